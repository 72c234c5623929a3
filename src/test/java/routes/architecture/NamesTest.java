package routes.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.netty.bootstrap.Bootstrap;
import io.netty.resolver.NoopAddressResolverGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Set;

@AnalyzeClasses(packages = "routes", importOptions = ImportOption.DoNotIncludeTests.class)
final class NamesTest {

    private static final Set<String> BLOCKING =
            Set.of("getByName", "getAllByName", "getLocalHost", "getHostName", "getCanonicalHostName", "isReachable");

    @ArchTest
    static final ArchRule nobodyWaitsForANameServer = noClasses()
            .that()
            // an address of this machine, looked at once before anything listens
            .doNotHaveFullyQualifiedName("routes.ManagementPort")
            .and()
            // a client of this very process, on a thread of its own
            .doNotHaveFullyQualifiedName("routes.WarmUpClient")
            .and()
            // the address to listen on, before the door is open
            .doNotHaveFullyQualifiedName("routes.door.DoorPort")
            .should()
            .callCodeUnitWhere(target(looksUp()))
            .because("the JDK's look-ups block, and one on an event loop holds up every request of that loop;"
                    + " names are for routes.address");

    @ArchTest
    static final ArchRule connectionsAreMadeToAddressesThatAreKnown = classes()
            .that(makeConnections())
            .should(new ArchCondition<>("use NoopAddressResolverGroup") {
                @Override
                public void check(JavaClass type, ConditionEvents events) {
                    boolean noop = type.getFieldAccessesFromSelf().stream()
                            .anyMatch(access -> access.getTargetOwner().isEquivalentTo(NoopAddressResolverGroup.class));
                    events.add(new SimpleConditionEvent(
                            type, noop, type.getName() + " leaves the look-up to Netty's default, which blocks"));
                }
            })
            .because("a bootstrap's default resolver is the JDK's, on the event loop");

    private static DescribedPredicate<CodeUnitCallTarget> looksUp() {
        return describe("look a name up", call -> {
            JavaClass owner = call.getOwner();
            if (call.getName().equals("<init>")) {
                List<String> parameters = call.getRawParameterTypes().stream()
                        .map(JavaClass::getName)
                        .toList();
                return parameters.equals(List.of("java.lang.String", "int"))
                        && (owner.isEquivalentTo(InetSocketAddress.class) || owner.isEquivalentTo(Socket.class));
            }
            return BLOCKING.contains(call.getName())
                    && (owner.isAssignableTo(InetAddress.class) || owner.isEquivalentTo(InetSocketAddress.class));
        });
    }

    private static DescribedPredicate<JavaClass> makeConnections() {
        return describe(
                "make connections",
                type -> type.getConstructorCallsFromSelf().stream()
                        .anyMatch(call -> call.getTargetOwner().isEquivalentTo(Bootstrap.class)));
    }
}
