import dev.klock.sandbox.subject.Ways;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.core.Scheduler;
import io.reactivex.rxjava3.disposables.Disposable;
import io.reactivex.rxjava3.plugins.RxJavaPlugins;
import io.reactivex.rxjava3.schedulers.Schedulers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Every scheduler of RxJava's, and the operators that go to them. */
public class RxJavaWays {
    public static void main(String[] arguments) throws Exception {
        Ways ways = new Ways();
        ExecutorService pool = Executors.newFixedThreadPool(2, ways.threads());
        ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(1, ways.threads());
        Map<String, Scheduler> schedulers = new LinkedHashMap<>();
        schedulers.put("computation", RxJavaPlugins.createComputationScheduler(ways.threads()));
        schedulers.put("io", RxJavaPlugins.createIoScheduler(ways.threads()));
        schedulers.put("newThread", RxJavaPlugins.createNewThreadScheduler(ways.threads()));
        schedulers.put("single", RxJavaPlugins.createSingleScheduler(ways.threads()));
        schedulers.put("from", Schedulers.from(pool));
        schedulers.put("fromExecutorAlone", Schedulers.from(pool::execute));
        schedulers.put("fromInterruptible", Schedulers.from(pool, true, false));
        schedulers.put("fromFair", Schedulers.from(pool, true, true));
        schedulers.put("fromScheduled", Schedulers.from(scheduled));
        schedulers.put("trampoline", Schedulers.trampoline());
        schedulers.put("commonComputation", Schedulers.computation());
        schedulers.put("commonIo", Schedulers.io());
        schedulers.put("commonNewThread", Schedulers.newThread());
        schedulers.put("commonSingle", Schedulers.single());
        schedulers.forEach((name, scheduler) -> add(ways, name, scheduler));

        ways.add("delay", work -> Flowable.just(1, 2).delay(1, TimeUnit.MILLISECONDS).doOnNext(each -> work.run()).blockingLast());
        ways.add("interval", work -> Flowable.interval(1, TimeUnit.MILLISECONDS).take(3).doOnNext(at -> work.run()).blockingLast());
        ways.add("timer", work -> Observable.timer(1, TimeUnit.MILLISECONDS).doOnNext(at -> work.run()).blockingLast());
        ways.add("timeout", work -> Completable.never().timeout(1, TimeUnit.MILLISECONDS, Completable.fromRunnable(work)).blockingAwait());
        ways.add("fromFuture", work -> Completable.fromFuture(pool.submit(work)).blockingAwait());

        ways.run(() -> {
            schedulers.values().forEach(Scheduler::shutdown);
            pool.shutdown();
            scheduled.shutdown();
        });
    }

    private static void add(Ways ways, String name, Scheduler scheduler) {
        ways.add(name + "_direct", work -> Ways.awaited(scheduler::scheduleDirect, work));
        ways.add(name + "_later", work -> Ways.awaited(counted -> scheduler.scheduleDirect(counted, 1, TimeUnit.MILLISECONDS), work));
        ways.add(name + "_worker", work -> {
            Scheduler.Worker worker = scheduler.createWorker();
            for (int i = 0; i < 3; i++) {
                Ways.awaited(worker::schedule, work);
            }
            Ways.awaited(counted -> worker.schedule(counted, 1, TimeUnit.MILLISECONDS), work);
            worker.dispose();
        });
        if (!name.equals("trampoline")) {
            // which would never come back from these
            ways.add(name + "_behind", work -> ways.behindAnothers(scheduler::scheduleDirect, work));
            ways.add(name + "_periodically", work -> {
                CountDownLatch twice = new CountDownLatch(2);
                Disposable ticks = scheduler.schedulePeriodicallyDirect(() -> {
                    work.run();
                    twice.countDown();
                }, 0, 1, TimeUnit.MILLISECONDS);
                twice.await();
                ticks.dispose();
            });
        }
        ways.add(name + "_subscribeOn", work -> Completable.fromRunnable(work).subscribeOn(scheduler).blockingAwait());
        ways.add(name + "_observeOn", work -> Flowable.range(0, 4).observeOn(scheduler, false, 1).doOnNext(each -> work.run()).blockingLast());
        ways.add(name + "_observeOnObservable", work -> Observable.range(0, 4).observeOn(scheduler).doOnNext(each -> work.run()).blockingLast());
        ways.add(name + "_runOn", work -> Flowable.range(0, 4).parallel(2).runOn(scheduler).doOnNext(each -> work.run()).sequential().blockingLast());
        ways.add(name + "_there_and_back", work -> Flowable.range(0, 3).subscribeOn(scheduler).observeOn(Schedulers.computation())
                .flatMapCompletable(each -> Completable.fromRunnable(work).subscribeOn(scheduler)).blockingAwait());
    }
}
