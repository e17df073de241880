package dev.klock.agent.weave;

import dev.klock.agent.observe.Op;

/** One row of the hook table: a JDK method and the call that goes before (and after) its effect. Immutable. */
public final class Hook {
    /** Internal name of the class. */
    public final String owner;
    public final String method;
    public final String descriptor;
    /** The bridge method to call, "-" for none. */
    final String call;
    /** Where its arguments are, in order. */
    final String[] arguments;
    public final Op op;
    /** What to call when it is over, "-" for nothing. */
    final String end;
    /** The call inside the method before which the hook goes, as owner.name(descriptor); "-" for the start of the method. */
    public final String site;
    /** The method whose native this row stands for when the row sits above it, else "-". */
    public final String standsFor;
    /** Whether the method is (or stands for) a direct caller of a native, and not only a frame around such. */
    public final boolean door;
    /** Whether the class is woven when it is loaded, not once it is there. */
    final boolean atLoad;
    /** Whether the program may begin before the class is loaded, so that short programs which never use it need not pay for it. */
    public final boolean lazy;

    /** Its place among the rows of its release, from 0. */
    final int number;

    Hook(String[] row, int number) {
        this.number = number;
        door = row[0].startsWith("door");
        lazy = row[0].endsWith(" lazy");
        atLoad = lazy || row[0].endsWith(" early");
        owner = row[2];
        method = row[3];
        descriptor = row[4];
        call = row[5];
        arguments = row[6].equals("-") ? new String[0] : HookTable.split(row[6], ' ');
        op = Op.valueOf(row[7]);
        end = row[8];
        site = row[9];
        standsFor = row[10];
    }

    /** Whether the call that goes before the effect is the bridge's method of this name. */
    public boolean calls(String bridgeMethod) {
        return call.equals(bridgeMethod);
    }

    boolean atStart() {
        return site.equals("-");
    }

    /** Whether the end must also be told when the body throws: ends that only change a result need not. */
    boolean wrapsBody() {
        switch (end) {
            case "void":
            case "process":
            case "probe":
            case "int":
            case "boolean":
            case "stream":
            case "random":
            case "forget":
                return true;
            default:
                return false;
        }
    }

    /** {@code class.method(descriptor)}, with the call it stands before where that is not the start. */
    @Override
    public String toString() {
        String name = owner.replace('/', '.') + "." + method + descriptor;
        return atStart() ? name : name + " before " + site;
    }
}
