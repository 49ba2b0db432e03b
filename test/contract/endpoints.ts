/**
 * The endpoint tables of the specification, and what the contract adds to them. By what is built together; a path's
 * ids are `{}`. Columns: method, path below the space, permission (r coordination_read, w coordination_write,
 * c resource_config), Idempotency-Key (! required, ? honoured, - not looked at), success statuses ('' where neither
 * document names one).
 */
export const endpoints: Readonly<Record<string, readonly string[]>> = {
  budgets: [
    'GET    /budgets                                  r - 200',
    'POST   /budgets                                  c ! 201',
    'GET    /budgets/{}                               r - 200',
    'POST   /budgets/{}/reserve                       c ! 201',
    'POST   /budgets/{}/settle                        c ? 200',
    'POST   /budgets/{}/void                          c ? 200',
  ],
  mailboxes: [
    'GET    /mailboxes                                r - 200',
    'POST   /mailboxes                                w ! 201',
    'GET    /mailboxes/{}/messages                    r - 200',
    'POST   /mailboxes/{}/messages                    w ! 200,201',
    'POST   /mailboxes/{}/recv                        w - 200,204',
    'POST   /messages/{}/renew                        w ! 200',
    'POST   /messages/{}/complete                     w ! 200',
    'POST   /messages/{}/nack                         w ! 200',
  ],
  groups: [
    'GET    /task-groups                              r - 200',
    'POST   /task-groups                              w ! 201',
    'GET    /task-groups/{}                           r - 200',
    'POST   /task-groups/{}/tasks                     w ! 201',
    'POST   /task-groups/{}/seal                      w ? 200',
    'POST   /task-groups/{}/tasks/{}/accept           w ? 200',
    'POST   /task-groups/{}/tasks/{}/reject           w ? 200',
    'POST   /task-groups/{}/join-task                 w ? 200',
  ],
  barriers: [
    'GET    /barriers                                 r - 200',
    'POST   /barriers                                 w ! 201',
    'GET    /barriers/{}                              r - 200',
    'POST   /barriers/{}/arrive                       w ? 200',
    'POST   /barriers/{}/nextEpoch                    w ? 200',
    'POST   /barriers/{}/cancel                       w ? 200',
  ],
  allowances: [
    'GET    /allowances                               r - 200',
    'POST   /allowances                               c ! 201',
    'GET    /allowances/{}                            r - 200',
    'POST   /allowances/{}/consume                    c ! 201',
    'POST   /allowances/{}/wait                       c ! 201',
    'POST   /allowances/{}/cooldown                   c ? 200',
    'GET    /allowance-waiters/{}                     r - 200',
    'POST   /allowance-waiters/{}/cancel              w ? 200',
  ],
  limits: [
    'GET    /limits                                   r - 200',
    'PUT    /limits                                   c ! 200',
  ],
  diagnostics: [
    'GET    /census                                   r - 200',
    'GET    /backlog                                  r - 200',
    'GET    /ops/waits                                r - 200',
  ],
  runs: ['GET    /ops/runs/{}                              r - 200'],
  usage: ['GET    /usage                                    r - 200'],
  events: ['GET    /events                                   r - 200'],
  watch: ['GET    /watch                                    r - 200'],
  webhooks: [
    'POST   /destinations                             w ! 201',
    'GET    /deliveries                               r - 200',
    'GET    /destinations                             r - 200',
    'GET    /destinations/{}                          r - 200',
    'PATCH  /destinations/{}                          w ?',
    'DELETE /destinations/{}                          w ?',
    'POST   /destinations/{}/rotate-secret            w ?',
    'POST   /destinations/{}/test                     w ?',
    'POST   /deliveries/{}/redeliver                  w ?',
  ],
};

/** The contract's table of error codes (section 2), with the statuses each may have. */
export const errorCodes: Readonly<Record<string, string>> = {
  400: 'MALFORMED_JSON VALIDATION_FAILED IDEMPOTENCY_KEY_REQUIRED IDEMPOTENCY_KEY_INVALID INVALID_CURSOR INVALID_DATE_RANGE UNITS_EXCEED_LIMIT LEASE_LIMIT_EXCEEDED DESTINATION_URL_FORBIDDEN',
  401: 'UNAUTHENTICATED INVALID_API_KEY',
  402: 'OPERATIONS_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'ROUTE_NOT_FOUND SPACE_NOT_FOUND BUDGET_NOT_FOUND MAILBOX_NOT_FOUND MESSAGE_NOT_FOUND GROUP_NOT_FOUND TASK_NOT_FOUND BARRIER_NOT_FOUND ALLOWANCE_NOT_FOUND WAITER_NOT_FOUND SCOPE_NOT_FOUND DESTINATION_NOT_FOUND DELIVERY_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'RESERVATION_NOT_FOUND MAILBOX_NOT_FOUND TASK_NOT_FOUND BUDGET_EXISTS ALLOWANCE_EXISTS INSUFFICIENT_BUDGET SETTLEMENT_EXCEEDS_RESERVATION RESERVATION_CLOSED WORK_KEY_CONFLICT BACKLOG_FULL CLAIM_LOST RECIPIENT_MISMATCH MAILBOX_MODE_INVALID TASK_KEY_CONFLICT GROUP_NOT_OPEN GROUP_DECIDED GROUP_FULL TASK_NOT_SUCCEEDED TASK_NOT_TERMINAL VERDICT_CONFLICT TASK_NOT_JOINABLE BARRIER_RELEASED BARRIER_CANCELLED BARRIER_NOT_RELEASED EPOCH_MISMATCH WAITER_NOT_WAITING WAITERS_FULL TIMERS_FULL SCOPE_DEPTH_EXCEEDED SCOPE_CHILDREN_FULL ACTIVE_RUNS_LIMITED ACTIVE_TASKS_LIMITED DESTINATIONS_FULL ENTITLEMENT_EXCEEDED',
  410: 'CURSOR_EXPIRED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'IDEMPOTENCY_KEY_REUSED',
  429: 'ALLOWANCE_COOLING_DOWN ALLOWANCE_EXHAUSTED CONCURRENCY_LIMITED RATE_LIMITED SERVICE_RATE_LIMITED',
  500: 'INTERNAL',
  503: 'STORE_UNAVAILABLE',
};
