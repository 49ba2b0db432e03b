/**
 * What every function begins with on a cluster. While a slot moves key by key, an organization's keys lie on two nodes:
 * a script would fail half-way on the one, and find nothing on the other. Two keys that never exist tell it before
 * anything is written, on either node; TRYAGAIN has the client send the call again, to whoever has the slot by then.
 */
export const slotGuard =
  "if type(redis.pcall('EXISTS', root .. ':-', root .. ':=')) == 'table' then " +
  "return redis.error_reply('TRYAGAIN the slot is moving') end";
