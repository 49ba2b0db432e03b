import { type ErrorTable, entry } from '../../engine/route/errors.ts';

export const webhookErrors: ErrorTable = {
  DESTINATION_NOT_FOUND: entry(404, 'there is no such destination in this space'),
  DELIVERY_NOT_FOUND: entry(404, 'there is no such delivery in this space, or its destination or its event is gone'),
  DESTINATION_URL_FORBIDDEN: entry(
    400,
    (address) =>
      `url leads to ${address}, which is not a public address: loopback, private, link-local and metadata addresses are refused`,
  ),
  DESTINATIONS_FULL: entry(
    409,
    (limit) => `the space already has its maximum of ${limit} destinations: delete one first`,
  ),
};
