/** What log lines say of the HTTP request of a typed call. */

import { createContextKey } from '@connectrpc/connect'

import type { Facts } from '../../../cluster/index.ts'

export const factsKey = createContextKey<Facts>({}, { description: 'facts of the request' })
