-- The gateway's work in nginx's Lua: one function for each phase of a request.
-- One thing is simpler than in the gateway: a usage event that arrives in two reads is relayed, not cut out.
local cjson = require "cjson.safe"
local ffi = require "ffi"
local balancer = require "ngx.balancer"

ffi.cdef [[ unsigned char *SHA256(const unsigned char *data, size_t length, unsigned char *digest); ]]
local crypto = ffi.load("libcrypto.so.3")
local digest = ffi.new("unsigned char[32]")

local function sha256(text)
    crypto.SHA256(text, #text, digest)
    return ffi.string(digest, 32)
end

local keys = {
    [sha256("@KEY@")] = { id = "bench", tenant = "bench", requests_per_minute = 1e9, tokens_per_minute = 1e15, concurrency = 1e5 },
}
local replicas = { { port = @REPLICA_A@, name = "a" }, { port = @REPLICA_B@, name = "b" } }
local models = { ["@MODEL@"] = replicas }
local limits, load = ngx.shared.limits, ngx.shared.load
local sub, find, match, floor = string.sub, string.find, string.match, math.floor

local M = {}

local function refuse(status)
    ngx.status = status
    ngx.header.content_type = "application/json"
    ngx.print('{"error":{"message":"refused","type":"invalid_request_error","code":' .. status .. '}}')
    return ngx.exit(status)
end

local function read_body()
    ngx.req.read_body()
    local data = ngx.req.get_body_data()
    if data then return data end
    local name = ngx.req.get_body_file()
    local file = name and io.open(name, "rb")
    if not file then return nil end
    data = file:read("*a")
    file:close()
    return data
end

function M.access()
    local ctx = ngx.ctx
    local authorization = ngx.var.http_authorization
    if not authorization or sub(authorization, 1, 7) ~= "Bearer " then return refuse(401) end
    local key = keys[sha256(sub(authorization, 8))]
    if not key then return refuse(401) end
    ctx.key = key

    local minute = floor(ngx.time() / 60)
    ctx.minute = minute
    if limits:incr(key.id .. ":r" .. minute, 1, 0, 120) > key.requests_per_minute then return refuse(429) end
    if (limits:get(key.id .. ":t" .. minute) or 0) > key.tokens_per_minute then return refuse(429) end
    ctx.holds_permit = true
    if limits:incr(key.id .. ":c", 1, 0) > key.concurrency then return refuse(429) end

    local body = read_body()
    local request = body and cjson.decode(body)
    if not request then return refuse(400) end
    local pool = models[request.model]
    if not pool then return refuse(404) end
    ctx.model = request.model
    if request.stream then
        ctx.stream = true
        local options = request.stream_options
        if type(options) ~= "table" or not options.include_usage then
            request.stream_options = { include_usage = true }
            ctx.cut = true
            ngx.req.set_body_data(cjson.encode(request))
        end
    end

    local best, least
    for i = 1, #pool do
        local running = load:get(pool[i].name) or 0
        if not least or running < least then best, least = pool[i], running end
    end
    ctx.replica = best
    load:incr(best.name, 1, 0)
end

function M.balance()
    balancer.set_current_peer("127.0.0.1", ngx.ctx.replica.port)
end

function M.header()
    ngx.header["x-request-id"] = ngx.var.request_id
end

-- Takes the usage-only event out of a read and keeps what it says.
local function usage_event(ctx, read)
    local choices = find(read, '"choices":[],"usage":{', 1, true)
    if not choices then return read end
    ctx.usage = sub(read, choices)
    if not ctx.cut then return read end
    local first, from = nil, 1
    while true do
        local at = find(read, "data: ", from, true)
        if not at or at > choices then break end
        first, from = at, at + 6
    end
    local _, last = find(read, "\n\n", choices, true)
    if first and last then return sub(read, 1, first - 1) .. sub(read, last + 1) end
    return read
end

function M.body()
    local ctx = ngx.ctx
    local read = ngx.arg[1]
    if read == "" then return end
    if not ctx.first_byte then
        ngx.update_time()
        ctx.first_byte = ngx.now() - ngx.req.start_time()
    end
    if ctx.stream then
        local kept = usage_event(ctx, read)
        if kept ~= read then ngx.arg[1] = kept ~= "" and kept or nil end
    else
        ctx.answer = ctx.answer and (ctx.answer .. read) or read
    end
end

function M.log()
    local ctx = ngx.ctx
    local key = ctx.key
    if ctx.replica then load:incr(ctx.replica.name, -1) end
    if ctx.holds_permit then limits:incr(key.id .. ":c", -1) end
    local prompt, completion = 0, 0
    if ctx.usage then
        prompt = tonumber(match(ctx.usage, '"prompt_tokens":(%d+)')) or 0
        completion = tonumber(match(ctx.usage, '"completion_tokens":(%d+)')) or 0
    elseif ctx.answer then
        local answer = cjson.decode(ctx.answer)
        if answer and answer.usage then
            prompt, completion = answer.usage.prompt_tokens, answer.usage.completion_tokens
        end
    end
    if not key then return end
    limits:incr(key.id .. ":t" .. ctx.minute, prompt + completion, 0, 120)
    ngx.var.usage_line = '{"time":' .. ngx.now() .. ',"request_id":"' .. ngx.var.request_id .. '","key":"' .. key.id
        .. '","tenant":"' .. key.tenant .. '","path":"' .. ngx.var.uri .. '","model":"' .. (ctx.model or "")
        .. '","replica":"' .. (ctx.replica and ctx.replica.name or "") .. '","stream":' .. tostring(ctx.stream or false)
        .. ',"status":' .. ngx.status .. ',"prompt_tokens":' .. prompt .. ',"completion_tokens":' .. completion
        .. ',"request_bytes":' .. ngx.var.request_length .. ',"answer_bytes":' .. ngx.var.bytes_sent
        .. ',"first_byte_s":' .. (ctx.first_byte or 0) .. ',"total_s":' .. ngx.var.request_time .. '}'
end

return M
