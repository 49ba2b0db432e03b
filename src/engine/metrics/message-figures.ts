/** The counted events of messages, in the order of lua/mailbox/_figures.lua. */
export const figureNames = ['sent', 'claimed', 'acked', 'rejected', 'failed', 'expired', 'cancelled'] as const;

/** The gauge with the total of one of these since the space was created. */
export const totalOf = (name: (typeof figureNames)[number]): string => `total:${name}`;
