--- @export packing
--- @include lib/records lib/sorted lib/unit mailbox/_packed
local packing = {}

--- The entries in :mailbox:<id>:segments for a segment with these rows, by mailbox.
local function entriesOf(rows)
  local entries = {}
  for _, row in ipairs(rows) do
    local known = entries[row.mailboxId]
    entries[row.mailboxId] = known and row.id .. ' ' .. known or row.id
  end
  return entries
end

--- Adds a segment (last, first, digest, count, kind) under the space's next number. record: the space's, with
--- messageSegments. finishedThrough: when the last of its messages finished.
function packing.addSegment(record, segment, content, finishedThrough)
  local number = record.messageSegments + 1
  records.set(record, 'messageSegments', number)
  local entry = table.concat({ segment.last, segment.first, number, segment.digest, segment.count, segment.kind }, ' ')
  unit.command('SET', keys.messageSegment(number), content)
  sorted.add(keys.messageSegments(), '0', entry)
  sorted.add(keys.messageSegmentEnds(segment.kind), finishedThrough, entry)
end

function packing.removeSegment(entry)
  local segment = packed.described(entry)
  unit.delete(keys.messageSegment(segment.number))
  sorted.remove(keys.messageSegments(), entry)
  sorted.remove(keys.messageSegmentEnds(segment.kind), entry)
end

--- Lists the messages of a segment in their mailboxes.
function packing.addRows(rows)
  for mailboxId, entry in pairs(entriesOf(rows)) do sorted.add(keys.mailboxSegments(mailboxId), '0', entry) end
end

function packing.removeRows(rows)
  for mailboxId, entry in pairs(entriesOf(rows)) do sorted.remove(keys.mailboxSegments(mailboxId), entry) end
end
