package dev.klock.agent.library;

import net.bytebuddy.asm.Advice;

/**
 * What is put before and behind the body of a hooked method. Never called: Byte Buddy copies its instructions, so there may be nothing in
 * it but calls that can be linked from any class ({@code java.lang.KlockCalls}): no lambda, no concatenation, no type of klock's own.
 */
final class CallAdvice {
    private CallAdvice() {
    }

    @Advice.OnMethodEnter
    static Object enter(@Site int site, @Advice.Origin("#t") String type, @Advice.Origin("#m") String method,
            @Advice.This(optional = true) Object self, @Advice.AllArguments Object[] arguments) {
        return KlockCalls.enter(site, type, method, self, arguments);
    }

    @Advice.OnMethodExit(onThrowable = Throwable.class)
    static void exit(@Advice.Enter Object token, @Advice.Thrown Throwable thrown) {
        if (token != null) {
            KlockCalls.exit(token, thrown);
        }
    }
}
