package dev.klock.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HomeTest {
    @TempDir
    File temp;

    private static String permissions(File file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file.toPath()));
    }

    @Test
    @Tag("K1-19")
    void home_absent_isMadePrivateWithIgnoreAndVersion() throws Exception {
        Home home = Home.open(new File(temp, ".klock"));

        assertThat(home.directory().getName()).isEqualTo(".klock");
        assertThat(permissions(home.directory())).isEqualTo("rwx------");
        assertThat(new File(home.directory(), ".gitignore")).hasContent("*\n");
        assertThat(new File(home.directory(), "version")).hasContent("1\n");
        assertThat(home.directory().list()).containsExactlyInAnyOrder(".gitignore", "version");
    }

    @Test
    @Tag("K1-19")
    void home_openToOthers_isMadePrivateAgain() throws Exception {
        Home.open(new File(temp, ".klock"));
        Place.directory(temp, ".klock", "rwxr-xr-x");
        assertThat(permissions(Home.open(new File(temp, ".klock")).directory())).isEqualTo("rwx------");
    }

    @Test
    void home_openedTwice_keepsWhatIsInside() throws Exception {
        Home first = Home.open(new File(temp, ".klock"));
        Place.file(first.directory("log"), "s.jsonl", "x");
        assertThat(new File(Home.open(new File(temp, ".klock")).directory("log"), "s.jsonl")).hasContent("x");
    }

    @Test
    void home_interruptedWhileMade_isFinished() throws Exception {
        File dir = Place.directory(temp, ".klock", "rwx------");
        Place.file(dir, ".gitignore", "*\n");
        Place.file(dir, "version.3f.new", "");
        Home.open(dir);
        assertThat(new File(dir, "version")).hasContent("1\n");
    }

    @Test
    void home_openedByManyAtOnce_isOne() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            List<Callable<Home>> opens = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                File dir = new File(temp, "home" + i / 8);
                opens.add(() -> Home.open(dir));
            }
            for (Future<Home> opened : pool.invokeAll(opens)) {
                assertThat(new File(opened.get().directory(), "version")).hasContent("1\n");
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void home_symbolicLink_isRefusedAndItsTargetLeftAlone() throws Exception {
        File target = Place.directory(temp, "target", "rwxr-xr-x");
        File link = new File(temp, ".klock");
        Files.createSymbolicLink(link.toPath(), target.toPath());

        assertThatThrownBy(() -> Home.open(link)).isInstanceOf(UsageException.class)
                .hasMessageMatching("klock's home \\S+/\\.klock is a symbolic link; remove it or give home=DIRECTORY");
        assertThat(target.list()).isEmpty();
        assertThat(permissions(target)).isEqualTo("rwxr-xr-x");
    }

    @Test
    void home_linkInsideOrFile_isRefused() throws Exception {
        Home home = Home.open(new File(temp, ".klock"));
        Files.createSymbolicLink(new File(home.directory(), "log").toPath(), temp.toPath());
        assertThatThrownBy(() -> home.directory("log")).hasMessageContaining("/.klock/log is a symbolic link");

        File file = Place.file(temp, "file", "mine");
        assertThatThrownBy(() -> Home.open(file)).hasMessageContaining("is not a directory");
        assertThat(file).hasContent("mine");
    }

    @Test
    void home_ofAnotherUser_isRefused() throws Exception {
        File dir = new File("/etc");
        if (Place.isRoot()) {
            dir = Place.directory(temp, ".klock", "rwxrwxrwx");
            Place.foreign(dir);
        }
        File foreign = dir;
        assertThatThrownBy(() -> Home.open(foreign)).hasMessageContaining("belongs to another user (uid ");
    }

    @Test
    void home_holdingSomethingElse_isRefusedAndLeftAlone() throws Exception {
        File dir = Place.directory(temp, "documents", "rwx------");
        Place.file(dir, "letter.txt", "dear");
        assertThatThrownBy(() -> Home.open(dir))
                .hasMessageEndingWith("holds something else ('letter.txt' and no version file); give home=DIRECTORY, new or empty");
        assertThat(dir.list()).containsExactly("letter.txt");
    }

    @Test
    void home_ofAnotherFormat_isRefused() throws Exception {
        Home home = Home.open(new File(temp, ".klock"));
        Place.file(home.directory(), "version", "2\n");
        assertThatThrownBy(() -> Home.open(home.directory())).hasMessageContaining("has format '2', this klock knows format 1");
    }

    @Test
    void home_whoseVersionWasNotOnTheDiskWhenTheMachineStopped_isMadeWhole() throws Exception {
        Home home = Home.open(new File(temp, ".klock"));
        home.directory("log");
        Place.file(home.directory(), "version", "");
        assertThat(Home.existing(home.directory(), false)).isNotNull();
        Home.open(home.directory());
        assertThat(new File(home.directory(), "version")).hasContent("1\n");
    }

    @Test
    void home_whoseMakingWasCutShort_isNoneYet() throws Exception {
        File dir = Place.directory(temp, ".klock", "rwx------");
        Place.file(dir, ".gitignore", "*\n");
        Place.file(dir, "version.3f.new", "1");
        assertThat(Home.existing(dir, false)).isNull();
        Place.file(dir, "letter.txt", "dear");
        assertThatThrownBy(() -> Home.existing(dir, false)).hasMessageEndingWith("is none: it holds 'letter.txt' and no version file");
    }

    private static File images(File dir, String permissions) throws IOException {
        File backups = Place.directory(dir, "backups", permissions);
        Place.directory(backups, ".open", "rwx------");
        File session = Place.directory(backups, "s", "rwx------");
        Place.file(Place.directory(session, "displaced", "rwx------"), "1-a", "theirs");
        return session;
    }

    @Test
    void home_withImagesAndNoVersion_isMadeWhole() throws Exception {
        File dir = Place.directory(temp, ".klock", "rwx------");
        images(dir, "rwx------");
        Place.directory(dir, "log", "rwx------");

        assertThat(Home.existing(dir, false)).isNotNull();
        assertThat(Home.open(dir).directory().list()).containsExactlyInAnyOrder("backups", "log", ".gitignore", "version");
        assertThat(new File(dir, "version")).hasContent("1\n");
        assertThat(new File(dir, "backups/s/displaced/1-a")).hasContent("theirs");
    }

    @Test
    void directory_thatOnlyLooksLikeImages_isRefused() throws Exception {
        File open = Place.directory(temp, "open", "rwx------");
        images(open, "rwxr-xr-x");
        File other = Place.directory(temp, "other", "rwx------");
        Place.file(images(other, "rwx------"), "letter.txt", "dear");
        File empty = Place.directory(temp, "empty", "rwx------");
        Place.directory(empty, "backups", "rwx------");
        File link = Place.directory(temp, "link", "rwx------");
        Files.createSymbolicLink(new File(link, "backups").toPath(), images(Place.directory(temp, "good", "rwx------"), "rwx------").getParentFile().toPath());
        for (File dir : new File[] {open, other, empty, link}) {
            assertThatThrownBy(() -> Home.open(dir)).as(dir.getName()).hasMessageContaining("holds something else ('backups' and no version file)");
            assertThatThrownBy(() -> Home.existing(dir, false)).as(dir.getName()).hasMessageContaining("is none: it holds 'backups'");
            assertThat(dir.list()).containsExactly("backups");
        }
    }

    @Test
    void directory_ofOthersWithAnEmptyFileNamedVersion_isRefused() throws Exception {
        File dir = Place.directory(temp, "documents", "rwx------");
        Place.file(dir, "version", "");
        Place.file(dir, "letter.txt", "dear");
        assertThatThrownBy(() -> Home.open(dir)).hasMessageContaining("holds something else ('letter.txt'");
    }

    @Test
    void home_whereNothingCanBeWritten_isRefusedWithOneLine() throws Exception {
        File dir = new File(Place.unwritable(temp), ".klock");
        assertThatThrownBy(() -> Home.open(dir)).isInstanceOf(UsageException.class)
                .hasMessageMatching("klock's home \\S+ cannot be used: [^\\n]+; give home=DIRECTORY on a place that can be written");
        assertThatThrownBy(() -> Home.open(new File(temp, "no/such/.klock"))).hasMessageContaining("no/such is not a directory");
        assertThatThrownBy(() -> Home.open(new File("/"))).hasMessageContaining("it is the root directory");
    }

    @Test
    void home_place_isBesideTheManifestUnlessNamed() throws Exception {
        LaunchEnvironment environment = Place.environment(new File("/w"), Map.of());
        LaunchOptions nothing = LaunchOptions.read(null, environment);
        LaunchOptions named = LaunchOptions.read("home=x", environment);

        assertThat(Home.locate(nothing, environment, new File("/m/klock.yaml"))).isEqualTo(new File("/m/.klock"));
        assertThat(Home.locate(nothing, environment, null)).isEqualTo(new File("/w/.klock"));
        assertThat(Home.locate(named, environment, new File("/m/klock.yaml"))).isEqualTo(new File("/w/x"));
    }

    @Test
    void home_existing_isReadWithoutBeingMade() throws Exception {
        assertThat(Home.existing(new File(temp, ".klock"), true)).isNull();
        assertThat(temp.list()).isEmpty();
        Home.open(new File(temp, ".klock"));
        assertThat(Home.existing(new File(temp, ".klock"), true)).isNotNull();
    }
}
