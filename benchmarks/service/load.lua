-- Questions for wrk; at its end a line of JSON.
--
--   wrk ... -s load.lua URL -- cached PATH ETAG PATH ETAG ...   in turn, each second time with its ETag
--   wrk ... -s load.lua URL -- cold PATH                        never the same question twice
local threads = {}

function setup(thread)
   threads[#threads + 1] = thread
   thread:set("number", #threads)
end

function init(arguments)
   asked, made = 0, {}
   if arguments[1] == "cached" then
      for at = 2, #arguments, 2 do
         made[#made + 1] = wrk.format("GET", arguments[at])
         if arguments[at + 1] ~= "" then
            made[#made + 1] = wrk.format("GET", arguments[at], {["If-None-Match"] = arguments[at + 1]})
         end
      end
   else
      cold = arguments[2]
   end
end

function request()
   asked = asked + 1
   if not cold then
      return made[asked % #made + 1]
   end
   -- Window, segment size and a threshold besides: none of it recurs within a run.
   local iw, mss = asked % 997 + 1, 100 + 500 * number + math.floor(asked / 997)
   -- Clients at 200 addresses: one of them computes one answer at a time.
   local client = {["X-Forwarded-For"] = "198.51.100." .. asked % 200}
   return wrk.format("GET", cold .. "&iw=" .. iw .. "&iw=" .. (asked % 89 + 1) .. "&mss=" .. mss, client)
end

function done(summary, latency)
   local errors = summary.errors
   io.write(string.format(
      '{"answers": %d, "wall_s": %.3f, "p50_ms": %.2f, "p99_ms": %.2f, "max_ms": %.2f, "refused": %d, "failed": %d}\n',
      summary.requests, summary.duration / 1e6,
      latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
      errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
