import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Build step: makes klock.jar's SBOM of what CycloneDX's plugin wrote of the dependencies ({@code src/build/dependencies.cdx.json}): it adds what
 * klock.jar has of each, how many of its classes and under which names, and which libraries it has inside itself ({@code inside.tsv}). A class
 * that no component accounts for, a component that is not a dependency any more or of which nothing is carried, stop the build.
 *
 * <p>The plugin works online only, and klock.jar must be the same without: so what it wrote is kept, and a release compares it with what it writes
 * now.
 *
 * <p>Run as {@code java -cp JACKSON Sbom.java KEPT.json FRESH.json SBOM.json POM.xml INSIDE.tsv CARRIED.jar CLASS_PATH WRITE}. {@code FRESH.json}
 * is {@code -} where the plugin did not run; {@code true} for {@code WRITE} keeps it.
 */
public final class Sbom {
    private record Inside(String within, String what, String licence) {}

    private final Map<String, String> relocations = new LinkedHashMap<>();
    private final Map<String, List<Inside>> insides = new HashMap<>();
    private final TreeSet<String> carried;
    private final TreeSet<String> unexplained;
    private final List<Path> classPath = new ArrayList<>();

    private Sbom(String[] arguments) throws Exception {
        NodeList found = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new File(arguments[3])).getElementsByTagName("relocation");
        for (int i = 0; i < found.getLength(); i++) {
            Element relocation = (Element) found.item(i);
            relocations.put(text(relocation, "pattern"), text(relocation, "shadedPattern"));
        }
        for (String line : Files.readAllLines(Path.of(arguments[4]))) {
            if (!line.startsWith("#")) {
                String[] row = line.split("\t");
                insides.computeIfAbsent(row[0], library -> new ArrayList<>()).add(new Inside(row[1], row[2], row[3]));
            }
        }
        carried = classes(Path.of(arguments[5]));
        unexplained = new TreeSet<>(carried);
        for (String place : arguments[6].split(File.pathSeparator)) {
            Path path = Path.of(place);
            if (Files.isDirectory(path)) {
                unexplained.removeAll(classes(path));
            } else {
                classPath.add(path);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Sbom sbom = new Sbom(arguments);
        Path kept = Path.of(arguments[0]);
        if (!arguments[1].equals("-")) {
            byte[] fresh = sbom.copied(Files.readAllBytes(Path.of(arguments[1])), false);
            if (arguments[7].equals("true")) {
                Files.write(kept, fresh);
            } else if (!Arrays.equals(fresh, Files.readAllBytes(kept))) {
                throw new IllegalStateException(kept + " is not what the dependencies are now; write it anew: mvn -B -Prelease -Dsbom.write=true -DskipTests package");
            }
        }
        Files.write(Path.of(arguments[2]), sbom.copied(Files.readAllBytes(kept), true));
        if (!sbom.unexplained.isEmpty()) {
            throw new IllegalStateException("carried, but of no component of " + kept + ": " + sbom.unexplained.first() + " and " + (sbom.unexplained.size() - 1) + " more");
        }
        if (!sbom.insides.isEmpty()) {
            throw new IllegalStateException(arguments[4] + " tells of what is not carried: " + sbom.insides.keySet());
        }
    }

    private static String text(Element parent, String name) {
        return parent.getElementsByTagName(name).item(0).getTextContent().strip();
    }

    private static TreeSet<String> classes(Path place) throws IOException {
        if (Files.isDirectory(place)) {
            try (Stream<Path> files = Files.walk(place)) {
                return classes(files.map(file -> place.relativize(file).toString().replace(File.separatorChar, '/')));
            }
        }
        try (ZipFile jar = new ZipFile(place.toFile())) {
            return classes(jar.stream().map(entry -> entry.getName()));
        }
    }

    private static TreeSet<String> classes(Stream<String> names) {
        return names.filter(name -> name.endsWith(".class") && !name.startsWith("META-INF/") && !name.endsWith("module-info.class"))
                .map(name -> name.substring(0, name.length() - 6).replace('/', '.')).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Copies the document without the hashes of what is built here, and, if {@code told}, adds to each of the components at its top. */
    private byte[] copied(byte[] document, boolean told) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonParser in = new JsonFactory().createParser(document); JsonGenerator out = new JsonFactory().createGenerator(bytes)) {
            DefaultIndenter lines = new DefaultIndenter("  ", "\n");
            out.setPrettyPrinter(new DefaultPrettyPrinter().withArrayIndenter(lines).withObjectIndenter(lines));
            List<String> path = new ArrayList<>();
            Map<String, String> component = new HashMap<>();
            for (JsonToken token = in.nextToken(); token != null; token = in.nextToken()) {
                boolean within = path.size() == 3 && path.get(1).equals("components");
                if (token.isStructEnd()) {
                    if (within && token == JsonToken.END_OBJECT) {
                        if (told) {
                            tell(component, out);
                        }
                        component.clear();
                    }
                    path.remove(path.size() - 1);
                } else if (token.isStructStart()) {
                    path.add(in.currentName() == null ? "" : in.currentName());
                } else if (within && token == JsonToken.VALUE_STRING) {
                    component.put(in.currentName(), in.getText());
                } else if (within && token == JsonToken.FIELD_NAME && in.currentName().equals("hashes") && "dev.klock".equals(component.get("group"))) {
                    in.nextToken();
                    in.skipChildren();
                    continue;
                }
                out.copyCurrentEvent(in);
            }
        }
        bytes.write('\n');
        return bytes.toByteArray();
    }

    private void tell(Map<String, String> component, JsonGenerator out) throws IOException {
        String jar = component.get("name") + "-" + component.get("version") + ".jar";
        Path place = classPath.stream().filter(path -> path.endsWith(jar)).findFirst().orElseThrow(() -> new IllegalStateException("not a dependency any more: " + jar + "; write dependencies.cdx.json anew: mvn -B -Prelease -Dsbom.write=true -DskipTests package"));
        TreeSet<String> all = classes(place);
        Map<String, String> moved = new LinkedHashMap<>();
        int kept = 0;
        for (String name : all) {
            String now = name;
            for (Map.Entry<String, String> relocation : relocations.entrySet()) {
                if (name.startsWith(relocation.getKey() + ".")) {
                    now = relocation.getValue() + name.substring(relocation.getKey().length());
                    moved.put(relocation.getKey(), relocation.getValue());
                }
            }
            if (carried.contains(now)) {
                kept++;
                unexplained.remove(now);
            }
        }
        if (kept == 0) {
            throw new IllegalStateException("nothing is carried of " + jar);
        }
        List<Inside> inside = insides.remove(component.get("group") + ":" + component.get("name") + ":" + component.get("version"));
        if (inside != null) {
            out.writeArrayFieldStart("components");
            for (Inside one : inside) {
                String[] name = one.what.split(":");
                String purl = "pkg:maven/" + name[0] + "/" + name[1] + "@" + name[2] + "?type=jar";
                out.writeStartObject();
                out.writeStringField("type", "library");
                out.writeStringField("bom-ref", component.get("bom-ref") + "#" + name[1]);
                out.writeStringField("group", name[0]);
                out.writeStringField("name", name[1]);
                out.writeStringField("version", name[2]);
                out.writeArrayFieldStart("licenses");
                out.writeStartObject();
                out.writeObjectFieldStart("license");
                out.writeStringField("id", one.licence);
                out.writeEndObject();
                out.writeEndObject();
                out.writeEndArray();
                out.writeStringField("purl", purl);
                out.writeArrayFieldStart("properties");
                property(out, "klock:relocated", "within " + relocated(one.within));
                out.writeEndArray();
                out.writeEndObject();
            }
            out.writeEndArray();
        }
        out.writeArrayFieldStart("properties");
        property(out, "klock:classes", kept + " of " + all.size());
        for (Map.Entry<String, String> one : moved.entrySet()) {
            property(out, "klock:relocated", one.getKey() + " to " + one.getValue());
        }
        out.writeEndArray();
    }

    private String relocated(String name) {
        for (Map.Entry<String, String> relocation : relocations.entrySet()) {
            if (name.startsWith(relocation.getKey() + ".")) {
                return relocation.getValue() + name.substring(relocation.getKey().length());
            }
        }
        return name;
    }

    private static void property(JsonGenerator out, String name, String value) throws IOException {
        out.writeStartObject();
        out.writeStringField("name", name);
        out.writeStringField("value", value);
        out.writeEndObject();
    }
}
