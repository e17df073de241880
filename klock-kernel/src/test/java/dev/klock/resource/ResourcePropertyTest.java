package dev.klock.resource;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.StringLength;

class ResourcePropertyTest {
    @Property
    @Tag("C18")
    void toString_ofAnyLiteralFile_parsesBackToIt(
            @ForAll @StringLength(min = 1, max = 12) @CharRange(from = 'a', to = 'c') @Chars({'*', '\\', '?', '[', '{', ' ', '$'}) String name) {
        Resource resource = Resource.file("/w/" + name);
        assertThat(Resource.parse(resource.toString())).isEqualTo(resource);
        Resource below = Resource.of("FILE", "/w/" + name, Resource.Form.SUBTREE);
        assertThat(Resource.parse(below.toString())).isEqualTo(below);
        assertThat(Resource.parse("FILE:/w/" + Resource.escape(name))).isEqualTo(resource);
    }

    @Property
    void parse_anyText_isAResourceOrAResourceSyntaxException(@ForAll @StringLength(max = 20) @Chars({'/', '.', '*', '\\', 'a', ':', '~', '$', '{', '\0', '?', '#', '@',
        '[', ']'}) String text) {
        for (String scheme : new String[] {"FILE", "URL", "ENV", "PROCESS", "NATIVE", "DB"}) {
            try {
                Resource resource = Resource.parse(scheme + ":" + text);
                assertThat(Resource.parse(resource.toString())).isEqualTo(resource);
            } catch (ResourceSyntaxException e) {
                assertThat(e.getMessage()).doesNotContain("\n").contains("; ");
            }
        }
    }
}
