/** Whether the caller may change things, and the reason why not. */

import { useQuery } from '@tanstack/react-query'

import { whoAmI } from './server.ts'

/** The reason why this caller may change nothing; undefined if it may. */
export function useRefusal(): string | undefined {
  const { data } = useQuery(whoAmI)
  return data?.role === 'reader' ? 'A key with the role reader changes nothing.' : undefined
}
