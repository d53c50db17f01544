import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/**
 * Measures pairs of acquire and release of Curator's InterProcessMutex, each thread with a name of its own and all with
 * one session, as Curator recommends. Arguments: ZooKeeper's address, the threads, the seconds, the server's process id.
 * Prints pairs per second, and microseconds of processor time per pair of this process and of the server. bench/peers
 * runs it.
 */
public class CuratorPeer {
  private static final AtomicBoolean stop = new AtomicBoolean();
  private static final AtomicLong pairs = new AtomicLong();

  public static void main(String[] given) throws Exception {
    int threads = Integer.parseInt(given[1]);
    long slice = (long) (Double.parseDouble(given[2]) * 1e9);
    ProcessHandle server = ProcessHandle.of(Long.parseLong(given[3])).orElseThrow();
    try (CuratorFramework client = CuratorFrameworkFactory.newClient(given[0], new RetryOneTime(1000))) {
      client.start();
      List<Thread> workers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/peers/" + i);
        Thread worker = new Thread(() -> work(mutex));
        worker.start();
        workers.add(worker);
      }
      // Until the virtual machine has compiled what it runs often.
      Thread.sleep(2000);
      long pairsBefore = pairs.get();
      long cpuBefore = cpuNanoseconds();
      Duration serverBefore = server.info().totalCpuDuration().orElseThrow();
      long begun = System.nanoTime();
      Thread.sleep(slice / 1_000_000);
      double done = pairs.get() - pairsBefore;
      double seconds = (System.nanoTime() - begun) / 1e9;
      double clientMicroseconds = (cpuNanoseconds() - cpuBefore) / 1e3;
      Duration serverUsed = server.info().totalCpuDuration().orElseThrow().minus(serverBefore);
      stop.set(true);
      for (Thread worker : workers) worker.join();
      System.out.printf(Locale.ROOT, "%.1f %.1f %.1f%n", done / seconds, clientMicroseconds / done,
          serverUsed.toNanos() / 1e3 / done);
    }
  }

  private static void work(InterProcessMutex mutex) {
    try {
      while (!stop.get()) {
        mutex.acquire();
        mutex.release();
        pairs.incrementAndGet();
      }
    } catch (Exception failure) {
      failure.printStackTrace();
      System.exit(1);
    }
  }

  private static long cpuNanoseconds() {
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return system.getProcessCpuTime();
  }
}
