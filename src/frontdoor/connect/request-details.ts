/** Details of the HTTP request behind a typed call, for log lines. */

import { createContextKey } from '@connectrpc/connect'

import type { Details } from '../../../cluster/index.ts'

/** The context value that carries the details of the request. */
export const detailsKey = createContextKey<Details>({}, { description: 'details of the request' })
