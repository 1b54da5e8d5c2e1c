/** The cache of answers, and when a call is tried again. */

import { QueryClient } from '@tanstack/react-query'

import { ApiError } from './client.ts'

/** True if asking again may help: the server was not there, was ill, or asked for patience. */
export function mayHelpAgain(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500)
}

/** The cache. Answers are asked again when the window or the connection comes back. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failures, error) => failures < 2 && mayHelpAgain(error),
      retryDelay: (failures) => Math.min(300 * 2 ** failures, 3_000),
      // A browser that believes itself offline still reaches its own machine.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})
