package dev.klock.agent.library;

import dev.klock.agent.observe.Subjects;
import dev.klock.bridge.Calls;

/**
 * Judges the calls of woven methods.
 *
 * <p>A library calls itself: a pool's statement calls the driver's, an overload another. So while a call is under way on a thread, further
 * calls of the same hook on it are not judged. What klock does itself is not either. A hook runs the program's code (it asks a connection
 * where it leads, an argument for its text); that code is judged as always, as klock has not exempted itself by then.
 *
 * <p>Thread-safe.
 */
final class CallJudge implements Calls {
    private final Subjects subjects;
    private final HookedMethod[] sites;
    private final UnderWay underWay;

    CallJudge(Subjects subjects, HookedMethod[] sites, int hooks) {
        this.subjects = subjects;
        this.sites = sites;
        underWay = new UnderWay(hooks);
    }

    @Override
    public Object enter(int number, String type, String method, Object self, Object[] arguments) {
        if (subjects.isEntered()) {
            return null;
        }
        HookedMethod site = sites[number];
        if (!site.applies(type, self)) {
            return null;
        }
        Hook hook = site.hook;
        Calling[] now = underWay.get();
        Calling outer = now[hook.index];
        if (outer != null && outer.isUnderWay(type, method)) {
            return null;
        }
        Calling calling = new Calling(hook, subjects, type, method);
        now[hook.index] = null;
        try {
            if (hook.counts(site)) {
                hook.called();
            }
            hook.judge(site, type, method, self, arguments, calling);
        } catch (RuntimeException e) {
            subjects.calledInVain(hook.declared.name(), e);
        }
        // only now: what an argument does that is asked for its text is not the call's doing
        now[hook.index] = calling;
        return calling;
    }

    @Override
    public void exit(Object token, Throwable thrown) {
        Calling calling = (Calling) token;
        Calling[] now = underWay.get();
        if (now[calling.hook.index] == calling) {
            now[calling.hook.index] = null;
        }
        if (thrown == null) {
            calling.succeeded();
        }
    }

    /** By hook, what is under way on a thread. */
    private static final class UnderWay extends ThreadLocal<Calling[]> {
        private final int hooks;

        UnderWay(int hooks) {
            this.hooks = hooks;
        }

        @Override
        protected Calling[] initialValue() {
            return new Calling[hooks];
        }
    }
}
