package dev.klock.sandbox.net;

import com.sun.tools.attach.VirtualMachine;
import java.lang.instrument.Instrumentation;

/** An agent that comes late, and the program that brings it into another JVM: process id, agent jar. */
public final class LateAgent {
    private LateAgent() {
    }

    public static void agentmain(String argument, Instrumentation instrumentation) {
        System.setProperty("late.agent", "is here");
    }

    public static void main(String[] arguments) throws Exception {
        VirtualMachine other = VirtualMachine.attach(arguments[0]);
        try {
            other.loadAgent(arguments[1]);
        } finally {
            other.detach();
        }
    }
}
