// Threads, garbage and null pointers that the virtual machine turns into exceptions.
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

public class Threads {
    static int caught(Object nothing) {
        try {
            return nothing.hashCode();
        } catch (NullPointerException expected) {
            return 1;
        }
    }

    public static void main(String[] arguments) throws Exception {
        long[] sums = new long[8];
        List<Thread> threads = new ArrayList<>();
        for (int index = 0; index < sums.length; index++) {
            final int own = index;
            Thread thread = new Thread(() -> {
                for (int round = 0; round < 200; round++) {
                    byte[][] garbage = new byte[100][];
                    for (int i = 0; i < garbage.length; i++)
                        garbage[i] = new byte[1000 + i];
                    sums[own] += garbage[round % 100].length + caught(null);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads)
            thread.join();
        for (long sum : sums)
            System.out.println(sum);
        System.out.println(IntStream.range(0, 1000000).parallel().mapToLong(i -> i % 7).sum());
        Process echo = new ProcessBuilder("echo", "child").start();
        System.out.print(new String(echo.getInputStream().readAllBytes()));
        System.out.println(echo.waitFor());
    }
}
