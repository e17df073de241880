package dev.klock.agent;

import dev.klock.agent.backup.Recovery;
import dev.klock.agent.config.Home;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.log.VerificationLog;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.util.List;

/** Undoes what crashed sessions of the home have left, and says so, to people and in the log of the session that begins. Thread-safe. */
final class Recovered implements Recovery.Teller {
    private final Home home;
    private final HostFiles files;
    private final VerificationLog log;

    Recovered(Home home, HostFiles files, VerificationLog log) {
        this.home = home;
        this.files = files;
        this.log = log;
    }

    /**
     * Whether nothing is left to be done (C45).
     *
     * @throws Recovery.Busy another process is at it and does not get on: nothing that crashed sessions have changed may be used
     */
    synchronized boolean all() throws Recovery.Busy {
        boolean complete = true;
        try {
            List<Recovery.Result> results = Recovery.run(home.directory().toPath(), null, false, files, null, this);
            for (int i = 0; i < results.size(); i++) {
                complete &= results.get(i).complete();
            }
            return complete;
        } catch (Recovery.Busy e) {
            throw e;
        } catch (IOException e) {
            Stderr.error("crashed sessions could not be looked for: " + e.getMessage() + "; finish with: java -jar klock.jar recover");
            return false;
        }
    }

    @Override
    public void tell(List<Recovery.Result> results) {
        for (int i = 0; i < results.size(); i++) {
            say(results.get(i));
        }
    }

    private void say(Recovery.Result result) {
        if (!result.complete()) {
            Stderr.error(result.line());
        } else {
            Stderr.announce(result.line());
        }
        RolledBack rolledBack = new RolledBack(result.sessionId(), result.report());
        rolledBack.say(log.file().getPath());
        log.recovered(result.sessionId(), result.line(), rolledBack.back, rolledBack.conflicts, rolledBack.notes);
    }
}
