/** The reason for which the caller may change nothing, if there is one. */

import { useQuery } from '@tanstack/react-query'

import { serverInfo, whoAmI } from './server.ts'

/** The reason, in these words, why this caller may change nothing; undefined if it may. */
export function useRefusal(
  words = 'A key with the role reader changes nothing.',
): string | undefined {
  const { data: info } = useQuery({ ...serverInfo, refetchInterval: false })
  // Where nobody shows who they are, nobody is refused.
  const isAsked = info !== undefined && info.auth !== 'none'
  const { data } = useQuery({ ...whoAmI, enabled: isAsked })
  return data?.role === 'reader' ? words : undefined
}
