package dev.klock.agent.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;

/**
 * What the audit needs of every class: its supertypes, its natives, and whether it mentions a method of certain names. Read from the
 * constant pool and the method headers alone, because a visit of the bodies of a whole image takes three times as long.
 */
final class ClassFacts {
    private static final int METHOD_REFERENCE = 10;
    private static final int INTERFACE_METHOD_REFERENCE = 11;

    /** A method's name and descriptor. */
    static final class Member {
        final String name;
        final String descriptor;
        final int access;

        private Member(String name, String descriptor, int access) {
            this.name = name;
            this.descriptor = descriptor;
            this.access = access;
        }

        boolean isNative() {
            return (access & Opcodes.ACC_NATIVE) != 0;
        }
    }

    final String name;
    final int access;
    /** Superclass and interfaces. */
    final String[] supertypes;
    /** The natives, and methods of the wanted names. */
    final List<Member> members = new ArrayList<>(2);
    /** Whether its constant pool holds a reference to a method of a wanted name. */
    final boolean mentions;

    ClassFacts(ClassReader reader, Set<String> wanted) {
        char[] buffer = new char[reader.getMaxStringLength()];
        name = reader.getClassName();
        access = reader.getAccess();
        String[] interfaces = reader.getInterfaces();
        String superName = reader.getSuperName();
        supertypes = new String[interfaces.length + (superName == null ? 0 : 1)];
        System.arraycopy(interfaces, 0, supertypes, 0, interfaces.length);
        if (superName != null) {
            supertypes[interfaces.length] = superName;
        }
        mentions = mentions(reader, wanted, buffer);
        int at = reader.header + 8 + 2 * interfaces.length;
        at = readMembers(reader, at, null, null);
        readMembers(reader, at, wanted, buffer);
    }

    private static boolean mentions(ClassReader reader, Set<String> wanted, char[] buffer) {
        int count = reader.getItemCount();
        for (int i = 1; i < count; i++) {
            int offset = reader.getItem(i);
            if (offset == 0) {
                continue;
            }
            int tag = reader.readByte(offset - 1);
            if (tag == METHOD_REFERENCE || tag == INTERFACE_METHOD_REFERENCE) {
                int nameAndType = reader.getItem(reader.readUnsignedShort(offset + 2));
                if (wanted.contains(reader.readUTF8(nameAndType, buffer))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Skips fields (no buffer) or reads methods; answers the offset behind them. */
    private int readMembers(ClassReader reader, int from, Set<String> wanted, char[] buffer) {
        int at = from + 2;
        for (int left = reader.readUnsignedShort(from); left > 0; left--) {
            if (buffer != null) {
                int flags = reader.readUnsignedShort(at);
                String member = reader.readUTF8(at + 2, buffer);
                if ((flags & Opcodes.ACC_NATIVE) != 0 || wanted.contains(member)) {
                    members.add(new Member(member, reader.readUTF8(at + 4, buffer), flags));
                }
            }
            int attributes = reader.readUnsignedShort(at + 6);
            at += 8;
            for (; attributes > 0; attributes--) {
                at += 6 + reader.readInt(at + 2);
            }
        }
        return at;
    }
}
