package dev.klock.agent.observe;

import dev.klock.ScopeViolationError;
import dev.klock.agent.decide.Baseline;
import dev.klock.agent.decide.Own;
import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.agent.resolve.TestHostFiles;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Scope;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** An observer over the real file system with a manifest of a few lines, and fakes that remember what they were told. */
final class Fixture implements PreImages, Verdicts, Trail, Ending, Rewrites, Doors {
    final TestHostFiles files = new TestHostFiles();
    final Resolver resolver = new Resolver(files);
    /** Paths in the order of their first change. */
    final List<String> images = new CopyOnWriteArrayList<>();
    /** Changes under way, by path; as {@link PreImages} counts them. */
    final ConcurrentHashMap<String, Integer> open = new ConcurrentHashMap<>();
    final List<String> cutShort = new CopyOnWriteArrayList<>();
    final List<String> left = new CopyOnWriteArrayList<>();
    final List<String> children = new CopyOnWriteArrayList<>();
    final List<String> unseen = new CopyOnWriteArrayList<>();
    /** The file that a running child seems to have changed. */
    volatile String changedByChild;
    final List<Denial> denials = new CopyOnWriteArrayList<>();
    final List<String> trail = new CopyOnWriteArrayList<>();
    final List<Throwable> failures = new CopyOnWriteArrayList<>();
    final Set<String> unimageable = ConcurrentHashMap.newKeySet();
    final List<Line> lines = new ArrayList<>();
    private final Scope.Builder scope = Scope.builder();
    private final Path root;
    private Baseline baseline = Baseline.none();
    private Own own = new Own(null);
    volatile boolean blocks = true;
    volatile boolean ended;
    /** Operations that the end would wait for and that were kept waiting for the end. */
    volatile int keptInMutation;
    /** Remember nothing, for measurements. */
    volatile boolean quiet;
    /** What others do while an image is made; once. */
    volatile Effect meanwhile;
    private int denies;
    Targets targets;
    Subjects hooks;
    Observer observer;

    Fixture(Path root) {
        this.root = root;
    }

    /** {@code "MUTATES FILE:/out/**"}: FILE paths are below the root. */
    Fixture allow(String line) {
        return allow(line, null);
    }

    Fixture allow(String line, List<Line> effects) {
        Predicate predicate = Predicate.valueOf(line.substring(0, line.indexOf(' ')));
        Resource resource = resource(line.substring(line.indexOf(' ') + 1));
        scope.allow(predicate, resource, lines.size());
        lines.add(new Line(predicate, resource, 1, 0, 0, line, effects));
        return this;
    }

    Fixture deny(String line) {
        scope.deny(Predicate.valueOf(line.substring(0, line.indexOf(' '))), resource(line.substring(line.indexOf(' ') + 1)), denies++);
        return this;
    }

    Fixture baseline(Baseline b) {
        baseline = b;
        return this;
    }

    Fixture own(Own o) {
        own = o;
        return this;
    }

    /** FIELD part 2's M0: reading in/**, changing and making what is directly in out. */
    Fixture m0() {
        return allow("CONSUMES FILE:/in/**").allow("MUTATES FILE:/out/*").allow("PROVIDES FILE:/out/*");
    }

    private Resource resource(String text) {
        String scheme = text.substring(0, text.indexOf(':'));
        String path = text.substring(text.indexOf(':') + 1);
        Resource.Form form = Resource.Form.EXACT;
        if (path.endsWith("/**")) {
            form = Resource.Form.SUBTREE;
            path = path.substring(0, path.length() - 3);
        } else if (path.endsWith("/*")) {
            form = Resource.Form.CHILDREN;
            path = path.substring(0, path.length() - 2);
        }
        return Resource.of(scheme, scheme.equals("FILE") ? (root + path).replaceAll("/$", "") : path, form);
    }

    Fixture start() {
        targets = new Targets(scope.build(), baseline, own, this::retired);
        hooks = new Subjects();
        observer = new Observer(hooks, files, new Names("UTF-8"), resolver, targets, lines, System.getenv("PATH"), this, this, this, this, this, this);
        hooks.begin(observer);
        return this;
    }

    @Override
    public boolean isDoor(String owner, String method) {
        return method.equals("open0");
    }

    @Override
    public boolean isIn(String name) {
        return name.equals("java.io");
    }

    String at(String name) {
        return root + name;
    }

    static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    byte[] bytesAt(String name) {
        return bytes(root + name);
    }

    /** Whether the hook denied. */
    boolean denied(Runnable hook) {
        try {
            hook.run();
            return false;
        } catch (ScopeViolationError e) {
            return true;
        }
    }

    /** A hook, the effect it lets through, and its end. */
    void does(Op op, Runnable hook, Effect effect) {
        hook.run();
        int result = -1;
        try {
            effect.run();
            result = 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        } finally {
            if (op.mutates()) {
                hooks.end(op.code(), result);
            }
        }
    }

    interface Effect {
        void run() throws IOException;
    }

    Denial lastDenial() {
        return denials.get(denials.size() - 1);
    }

    private String shortName(byte[] path) {
        String name = new String(path, StandardCharsets.UTF_8);
        return name.startsWith(root + "/") ? name.substring(root.toString().length()) : name;
    }

    @Override
    public boolean before(byte[] path) throws IOException {
        if (quiet) {
            return false;
        }
        if (unimageable.contains(shortName(path))) {
            throw new IOException("disk full");
        }
        if (open.merge(shortName(path), 1, Integer::sum) == 1 && !images.contains(shortName(path))) {
            images.add(shortName(path));
            Effect others = meanwhile;
            meanwhile = null;
            if (others != null) {
                others.run();
            }
            return true;
        }
        return false;
    }

    /** Whether every change that has begun is over. */
    boolean allLeft() {
        return open.values().stream().allMatch(n -> n == 0);
    }

    @Override
    public void beforeTree(byte[] path) throws IOException {
        before(bytes(new String(path, StandardCharsets.UTF_8) + "/**"));
    }

    @Override
    public void left(byte[] path) {
        if (quiet) {
            return;
        }
        left.add(shortName(path));
        String tree = shortName(path) + "/**";
        open.merge(open.getOrDefault(tree, 0) > 0 ? tree : shortName(path), -1, Integer::sum);
    }

    @Override
    public void beforeChild(byte[] program, byte[] directory, List<Line> effects) throws IOException {
        if (unimageable.contains("child")) {
            throw new IOException("1.2 GB");
        }
        children.add(shortName(program) + " in " + shortName(directory) + " " + effects);
    }

    @Override
    public boolean isChangedByChild(byte[] path) {
        return new String(path, StandardCharsets.UTF_8).equals(changedByChild);
    }

    @Override
    public void unseen(Target program, String requested, Unseen why) {
        unseen.add(why + " " + program.shown().replace(root + "/", "/"));
    }

    @Override
    public boolean denied(Denial denial) {
        denials.add(denial);
        return blocks;
    }

    @Override
    public String explain(Denial denial) {
        return "Agent attempted " + denial.predicate() + " on " + denial.resource();
    }

    @Override
    public boolean unsaved(Denial access, IOException cause) {
        failures.add(cause);
        return blocks;
    }

    @Override
    public boolean denies() {
        return true;
    }

    @Override
    public boolean failed(Op op, Throwable cause) {
        failures.add(cause);
        return blocks;
    }

    @Override
    public void cutShort(String file) {
        cutShort.add(file);
    }

    @Override
    public boolean hasEnded() {
        return ended;
    }

    @Override
    public boolean ended() {
        if (ended) {
            keptInMutation += observer.inMutation();
        }
        return ended;
    }

    @Override
    public void first(Target target, Predicate predicate, int decision, String requested) {
        trail.add(predicate + " " + target.shown().replace(root + "/", "/") + " " + decision);
    }

    @Override
    public void retired(Target target) {
        trail.add("retired " + target);
    }

    @Override
    public void halting(int status) {
        trail.add("halting " + status);
    }

    @Override
    public void ending() {
        trail.add("ending");
    }

    @Override
    public void rewritten(ClassLoader loader, String name, byte[] before, byte[] after) {
        trail.add("rewritten " + name + " " + hooks.isEntered());
    }
}
