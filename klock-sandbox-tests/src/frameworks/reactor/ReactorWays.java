import dev.klock.Klock;
import dev.klock.sandbox.subject.Ways;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/**
 * Every scheduler of Reactor's that brings threads, and the operators that go to them. With the argument {@code wrap} klock wraps what is scheduled; with
 * {@code context} Reactor carries on what Micrometer's registry knows, and signals that the process sends are their subscriber's.
 */
public class ReactorWays {
    private static final Duration TICK = Duration.ofMillis(1);

    public static void main(String[] arguments) throws Exception {
        List<String> with = List.of(arguments);
        if (with.contains("wrap")) {
            Schedulers.onScheduleHook("klock", Klock::wrap);
        }
        if (with.contains("context")) {
            Hooks.enableAutomaticContextPropagation();
        }
        Ways ways = new Ways();
        ExecutorService pool = Executors.newFixedThreadPool(2, ways.threads());
        ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(1, ways.threads());
        Map<String, Scheduler> schedulers = new LinkedHashMap<>();
        schedulers.put("parallel", Schedulers.newParallel(2, ways.threads()));
        schedulers.put("boundedElastic", Schedulers.newBoundedElastic(2, 100, ways.threads(), 60));
        schedulers.put("single", Schedulers.newSingle(ways.threads()));
        schedulers.put("fromExecutor", Schedulers.fromExecutor(pool::execute));
        schedulers.put("fromExecutorTrampolining", Schedulers.fromExecutor(pool::execute, true));
        schedulers.put("fromExecutorService", Schedulers.fromExecutorService(scheduled));
        schedulers.put("commonParallel", Schedulers.parallel());
        schedulers.put("commonBoundedElastic", Schedulers.boundedElastic());
        schedulers.put("commonSingle", Schedulers.single());
        schedulers.forEach((name, scheduler) -> add(ways, name, scheduler));

        ways.add("delay", work -> Mono.delay(TICK).doOnNext(at -> work.run()).block());
        ways.add("delayElements", work -> Flux.just(1, 2).delayElements(TICK).doOnNext(each -> work.run()).blockLast());
        ways.add("interval", work -> Flux.interval(TICK).take(3).doOnNext(at -> work.run()).blockLast());
        ways.add("timeout", work -> Mono.never().timeout(TICK, Mono.fromRunnable(work)).block());
        ways.add("buffer", work -> Flux.interval(TICK).take(3).buffer(TICK).doOnNext(all -> work.run()).blockLast());
        ways.add("retry", work -> {
            CountDownLatch first = new CountDownLatch(1);
            Mono.fromRunnable(() -> {
                if (first.getCount() > 0) {
                    first.countDown();
                    throw new IllegalStateException("again");
                }
                work.run();
            }).retryWhen(Retry.backoff(1, TICK)).block();
        });
        ways.add("fromFuture", work -> Mono.fromFuture(() -> CompletableFuture.runAsync(work)).block());
        ways.add("blocking", work -> Flux.range(0, 4).flatMap(each -> Mono.fromRunnable(work).subscribeOn(Schedulers.boundedElastic()), 2).blockLast());

        if (with.contains("context")) {
            ways.add("sink", work -> {
                Sinks.One<Integer> sink = Sinks.one();
                CompletableFuture<Integer> end = sink.asMono().doOnNext(each -> work.run()).contextCapture().toFuture();
                Ways.byProcess(() -> sink.tryEmitValue(1));
                end.get();
            });
            ways.add("create", work -> {
                CompletableFuture<Integer> end = Mono.<Integer>create(sink -> {
                    try {
                        Ways.byProcess(() -> sink.success(1));
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }).doOnNext(each -> work.run()).contextCapture().toFuture();
                end.get();
            });
        }

        ways.run(() -> {
            schedulers.values().forEach(Scheduler::dispose);
            pool.shutdown();
            scheduled.shutdown();
        });
    }

    private static void add(Ways ways, String name, Scheduler scheduler) {
        ways.add(name + "_schedule", work -> Ways.awaited(scheduler::schedule, work));
        ways.add(name + "_behind", work -> ways.behindAnothers(scheduler::schedule, work));
        ways.add(name + "_worker", work -> {
            Scheduler.Worker worker = scheduler.createWorker();
            for (int i = 0; i < 3; i++) {
                Ways.awaited(worker::schedule, work);
            }
            worker.dispose();
        });
        if (!name.startsWith("fromExecutor") || name.endsWith("Service")) {
            // which have no clock
            ways.add(name + "_later", work -> Ways.awaited(counted -> scheduler.schedule(counted, 1, TimeUnit.MILLISECONDS), work));
            ways.add(name + "_periodically", work -> {
                CountDownLatch twice = new CountDownLatch(2);
                Disposable ticks = scheduler.schedulePeriodically(() -> {
                    work.run();
                    twice.countDown();
                }, 0, 1, TimeUnit.MILLISECONDS);
                twice.await();
                ticks.dispose();
            });
        }
        ways.add(name + "_subscribeOn", work -> Mono.fromRunnable(work).subscribeOn(scheduler).block());
        ways.add(name + "_publishOn", work -> Flux.range(0, 4).publishOn(scheduler, 1).doOnNext(each -> work.run()).blockLast());
        ways.add(name + "_runOn", work -> Flux.range(0, 4).parallel(2).runOn(scheduler).doOnNext(each -> work.run()).sequential().blockLast());
        ways.add(name + "_cancelOn", work -> Ways.awaited(
                counted -> Flux.never().doOnCancel(counted).cancelOn(scheduler).subscribe().dispose(), work));
        ways.add(name + "_there_and_back", work -> Flux.fromIterable(List.of(1, 2, 3)).subscribeOn(scheduler).publishOn(Schedulers.parallel())
                .flatMap(each -> Mono.fromRunnable(work).subscribeOn(scheduler)).blockLast());
    }
}
