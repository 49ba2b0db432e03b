/** A value in a reply: Lua's false arrives as null, numbers as numbers, everything else as text. */
export type Value = string | number | null | Value[];
export type Reply = Value[];
