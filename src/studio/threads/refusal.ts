/** Why a caller may not change anything. */

import { useQuery } from '@tanstack/react-query'

import { whoAmI } from '../api/server.ts'

/** The reason in words; undefined for those who may. */
export function useRefusal(): string | undefined {
  const { data } = useQuery(whoAmI)
  return data?.role === 'reader' ? 'Your role may only read.' : undefined
}
