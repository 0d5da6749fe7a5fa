-- Coroutines, tables and a finalizer.
local sum = 0
local made = {}
for i = 1, 2000 do
  made[i] = coroutine.wrap(function() for j = 1, 20 do coroutine.yield(i * j) end end)
end
for _ = 1, 20 do for i = 1, #made do sum = sum + made[i]() end end
print(sum)
local finalized = 0
for _ = 1, 1000 do setmetatable({}, { __gc = function() finalized = finalized + 1 end }) end
collectgarbage()
print(finalized, pcall(error, "expected"))
print(io.popen("echo child"):read("a"))
os.exit(0, true)
