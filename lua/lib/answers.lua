--- @export answers
--- @include lib/decimal lib/idempotency lib/invocation lib/money lib/refuse lib/unit
--- References between the calls of an atomic batch, and the answers that its calls expect.
---
--- Node sends the terms of a call as JSON (src/doors/batch/terms.ts). `from` lists its references. The arguments hold a
--- placeholder for each reference, which is replaced by the id that the reference leads to. `distinct` has the lists of
--- ids that contain references; such a list must not name an id twice. `expect` has the members that the answer must
--- have.
---
--- Their sources say where a value is (src/doors/batch/sources.ts): `at` is the path to it in the list of a reply;
--- `is`, a text that does not depend on the reply; `absent`, the text if that is ''. If the reply has something at the
--- path `known`, the source is `whole`, or else `made`. All others say how the value is computed from others, as the
--- record declares it (src/engine/declare/computed.ts).
local answers = {}
local idForm = '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x$'
--- The longest part of a value that a refusal shows, in bytes.
local maxShown = 100

--- Starts a batch. digest: the digest of its Idempotency-Key, '' without one. placeholders: the placeholders of all
--- references, in the order of their numbers. ids: if this repeats an earlier batch, the ids to which its references
--- led.
function answers.begin(digest, fingerprint, placeholders, ids)
  local batch = { digest = digest, fingerprint = fingerprint, ids = ids or {}, isRepeated = ids ~= nil,
    placeholders = {} }
  for placeholder in string.gmatch(placeholders, '%S+') do table.insert(batch.placeholders, placeholder) end
  invocation.batch = batch
end

--- Whether this repeats an earlier batch: its reads are then skipped.
function answers.isRepeated()
  return invocation.batch and invocation.batch.isRepeated
end

--- The value at a path as text; '' if there is none.
local function textAt(list, path)
  local value = list
  for _, index in ipairs(path) do value = value and value[index] end
  if not value then return '' end
  if value == true then return '1' end
  return type(value) == 'number' and decimal(value) or value
end

--- Replaces the placeholders in a text by the ids known so far.
local function resolved(text)
  for number, placeholder in ipairs(invocation.batch.placeholders) do
    local id = invocation.batch.ids[number]
    if id then text = string.gsub(text, (string.gsub(placeholder, '%-', '%%-')), id) end
  end
  return text
end

local valueOf

--- The sum of amounts or units, as text.
local function total(sources, list)
  local sum = '0'
  for _, source in ipairs(sources) do
    local text = valueOf(source, list)
    if text ~= '' then sum = money.add(sum, text) end
  end
  return sum
end

function valueOf(source, list)
  if source.known then return valueOf(textAt(list, source.known) == '' and source.made or source.whole, list) end
  if source.sum then
    local sum, less = total(source.sum, list), total(source.less, list)
    return money.exceeds(less, sum) and '0' or money.subtract(sum, less)
  end
  if source.wordOf then return string.match(valueOf(source.wordOf, list), '^%S*') end
  if source.cases then
    for _, case in ipairs(source.cases) do
      local text = valueOf(case[1], list)
      if text ~= '' and text ~= '0' then return case[2] end
    end
    return source.otherwise
  end
  local text = source.is and resolved(source.is) or textAt(list, source.at)
  return text == '' and source.absent or text
end

--- Refuses a call because of its references. All its other checks have passed, so the refusal counts.
local function refuseReference(message)
  invocation.changesBeforeCount = unit.changes()
  refuse('VALIDATION_FAILED', message)
end

--- Follows the references of a call and returns its arguments with the ids filled in. replies: the replies of the calls
--- so far.
function answers.refer(text, terms, replies)
  local ids = invocation.batch.ids
  for _, reference in ipairs(terms.from) do
    if not ids[reference.number] then
      local id = valueOf(reference.source, replies[reference.index])
      if not string.find(id, idForm) then refuseReference(reference.refusal) end
      ids[reference.number] = id
    end
  end
  for _, list in ipairs(terms.distinct) do
    local seen = {}
    for i, id in ipairs(list.ids) do
      id = resolved(id)
      if seen[id] then refuseReference(list.name .. '[' .. i - 1 .. '] repeats an id') end
      seen[id] = true
    end
  end
  return resolved(text)
end

--- Refuses a call whose answer is not as expected.
function answers.expect(reply, expected)
  for _, one in ipairs(expected) do
    local found, isMet = valueOf(one.source, reply), false
    for _, accepted in ipairs(one.accepts) do isMet = isMet or found == resolved(accepted) end
    if not isMet then
      local shown = one.isFlag and (found == '1' and 'true' or 'false') or found == '' and 'null'
        or string.sub(found, 1, maxShown)
      refuse('EXPECTATION_FAILED', one.name .. '\t' .. shown .. '\t' .. resolved(one.wanted))
    end
  end
end

--- The total length of the texts in a reply, in bytes.
function answers.bytes(list)
  local sum = 0
  for _, value in ipairs(list) do
    if type(value) == 'string' then
      sum = sum + #value
    elseif type(value) == 'table' then
      sum = sum + answers.bytes(value)
    end
  end
  return sum
end

--- Ends a batch in which every call was accepted, and stores its Idempotency-Key. first: the reply to the opening call;
--- it gets the ids.
function answers.keep(first)
  local batch = invocation.batch
  if not batch then return end
  if batch.digest ~= '' and not batch.isRepeated then
    idempotency.keep(batch.digest, batch.fingerprint, { '', unpack(batch.ids) })
  end
  for i, id in ipairs(batch.ids) do first[i + 1] = id end
end
