/** The facts of a typed call's HTTP request, for the log. */

import { createContextKey } from '@connectrpc/connect'

import type { Facts } from '../../../cluster/index.ts'

export const factsKey = createContextKey<Facts>({}, { description: 'facts of the request' })
