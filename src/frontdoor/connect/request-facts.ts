/** What log lines say of the HTTP request of a typed call. */

import { createContextKey } from '@connectrpc/connect'

import type { Details } from '../../../cluster/index.ts'

export const detailsKey = createContextKey<Details>({}, { description: 'facts of the request' })
