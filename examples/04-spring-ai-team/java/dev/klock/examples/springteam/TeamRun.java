package dev.klock.examples.springteam;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/**
 * The program: {@code TeamRun WORKSPACE job|stray} has two agents work on a library at the same time, and one of them once more when both are
 * done. With {@code stray} the editor goes too far at its end. Prints what each answers.
 */
public final class TeamRun {
    private TeamRun() {
    }

    public static void main(String[] arguments) {
        try (AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext()) {
            application.registerBean(Team.class, () -> new Team(Path.of(arguments[0]), arguments[1].equals("stray")));
            application.refresh();
            Executor threads = application.getBean("threads", Executor.class);
            ChatClient editor = application.getBean("editor", ChatClient.class);
            ChatClient writer = application.getBean("writer", ChatClient.class);

            CompletableFuture<String> edited = ask(editor, Team.ADD_LICENSES, threads);
            CompletableFuture<String> described = ask(writer, Team.DESCRIBE, threads);
            System.out.println("  editor " + edited.join());
            System.out.println("  writer " + described.join());
            System.out.println("  writer " + ask(writer, Team.WRITE_INDEX, threads).join());
        }
    }

    private static CompletableFuture<String> ask(ChatClient agent, String task, Executor threads) {
        return CompletableFuture.supplyAsync(() -> agent.prompt(task).call().content(), threads)
                .exceptionally(e -> "failed: " + cause(e).toString().lines().findFirst().orElseThrow());
    }

    private static Throwable cause(Throwable e) {
        return e.getCause() == null ? e : cause(e.getCause());
    }
}
