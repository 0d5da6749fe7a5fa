# Fibers, threads, a forked child and much garbage.
require "digest"
fibers = 50.times.map { |i| Fiber.new { 20.times { |j| Fiber.yield "#{i}:#{j}" }; nil } }
seen = []
20.times { fibers.each { |fiber| seen << fiber.resume } }
puts Digest::SHA256.hexdigest(seen.join(","))
puts 8.times.map { |i| Thread.new { (0...20_000).map { |j| (i * j).to_s }.map(&:size).sum } }.map(&:value)
reader, writer = IO.pipe
child = fork { reader.close; writer.write "a" * 100_000; writer.close; exit! 7 }
writer.close
puts reader.read.size
Process.wait child
puts $?.exitstatus
GC.start
puts `echo child`
at_exit { puts "end" }
