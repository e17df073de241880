package dev.klock.examples.springteam;

import dev.klock.examples.springteam.ScriptedAgent.Call;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springaicommunity.agent.tools.FileSystemTools;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** The application's beans: two chat clients with the same file tools, and the threads they work on. */
@Configuration(proxyBeanMethods = false)
class Team {
    static final String ADD_LICENSES = "Add the SPDX line to the headers of package mutable.";
    static final String DESCRIBE = "Describe the classes of package tuple.";
    static final String WRITE_INDEX = "Write the index of the descriptions.";

    private static final String LIBRARY = "library/org/apache/commons/lang3/";
    private static final String HEADER = " * Licensed to the Apache Software Foundation (ASF) under one or more";
    private static final List<String> MUTABLE = List.of("MutableByte", "MutableDouble", "MutableFloat", "MutableInt", "MutableLong", "MutableShort");
    private static final List<String> TUPLE = List.of("ImmutablePair", "ImmutableTriple", "MutablePair", "MutableTriple", "Pair", "Triple");

    private final Path workspace;
    private final boolean strays;

    /** @param strays whether the editor goes on with a file of package tuple, which is not its to change */
    Team(Path workspace, boolean strays) {
        this.workspace = workspace;
        this.strays = strays;
    }

    @Bean
    ThreadPoolTaskExecutor threads() {
        ThreadPoolTaskExecutor threads = new ThreadPoolTaskExecutor();
        threads.setCorePoolSize(2);
        return threads;
    }

    @Bean
    ChatClient editor() {
        List<Call> calls = new ArrayList<>();
        for (String name : MUTABLE) {
            calls.add(read(LIBRARY + "mutable/" + name + ".java"));
            calls.add(addLicense(LIBRARY + "mutable/" + name + ".java"));
        }
        if (strays) {
            calls.add(addLicense(LIBRARY + "tuple/Pair.java"));
        }
        return agent("editor", Map.of(ADD_LICENSES, calls));
    }

    @Bean
    ChatClient writer() {
        List<Call> describe = new ArrayList<>();
        StringBuilder index = new StringBuilder("# Package tuple\n\n");
        for (String name : TUPLE) {
            describe.add(read(LIBRARY + "tuple/" + name + ".java"));
            describe.add(write("docs/tuple/" + name + ".md", "# " + name + "\n"));
            index.append("- [").append(name).append("](tuple/").append(name).append(".md)\n");
        }
        return agent("writer", Map.of(DESCRIBE, describe, WRITE_INDEX, List.of(write("docs/index.md", index.toString()))));
    }

    private ChatClient agent(String name, Map<String, List<Call>> script) {
        return ChatClient.builder(new ScriptedAgent(script))
                .defaultTools(new FileSystemTools())
                .defaultAdvisors(new InSession(workspace.resolve("klock.yaml"), name))
                .build();
    }

    private Call read(String file) {
        return new Call("Read", Map.of("filePath", workspace.resolve(file).toString()));
    }

    private Call write(String file, String content) {
        return new Call("Write", Map.of("filePath", workspace.resolve(file).toString(), "content", content));
    }

    private Call addLicense(String file) {
        return new Call("Edit", Map.of("filePath", workspace.resolve(file).toString(),
                "old_string", HEADER, "new_string", " * SPDX-License-Identifier: Apache-2.0\n" + HEADER));
    }
}
