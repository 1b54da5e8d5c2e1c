/** Whether the caller may change things, and the reason why not. */

import { useQuery } from '@tanstack/react-query'

import { whoAmI } from './server.ts'

/** The reason, in these words, why this caller may change nothing; undefined if it may. */
export function useRefusal(
  words = 'A key with the role reader changes nothing.',
): string | undefined {
  const { data } = useQuery(whoAmI)
  return data?.role === 'reader' ? words : undefined
}
