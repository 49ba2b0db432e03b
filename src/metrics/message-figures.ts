/** What is counted of messages, in the order of lua/mailbox/_figures.lua. */
export const figureNames = ['sent', 'claimed', 'acked', 'rejected', 'failed', 'expired', 'cancelled'] as const;

/** The gauge of a space that says how often one of these has happened since the space was made. */
export const totalOf = (name: (typeof figureNames)[number]): string => `total:${name}`;
