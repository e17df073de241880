import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles everything below {@code src} into {@code out}, with the compiler of the JDK it runs on. */
public class Compile {
    public static void main(String[] arguments) throws Exception {
        List<File> sources;
        try (Stream<Path> walk = Files.walk(Path.of("src"))) {
            sources = walk.filter(file -> file.toString().endsWith(".java")).sorted().map(Path::toFile).toList();
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(null, files, null, List.of("-d", "out", "-sourcepath", "src", "-proc:none"), null,
                    files.getJavaFileObjectsFromFiles(sources)).call();
            System.out.println(compiled + " " + sources.size());
        }
    }
}
