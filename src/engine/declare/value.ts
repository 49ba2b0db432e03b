/** A value in a script's reply: false in Lua is null here, a number is a number, everything else is text. */
export type Value = string | number | null | Value[];
export type Reply = Value[];

/** Reads a value by its name in scripts; null if it is absent. */
export type Get = (name: string) => Value;
