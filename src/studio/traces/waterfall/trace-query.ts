/** The spans of a trace as a tree, asked for again while it goes on. */

import { queryOptions } from '@tanstack/react-query'

import { spansWithWords, traceSpans } from '../../api/platform/traces.ts'
import { nowMs } from '../../env.ts'
import { treeOf } from './span-tree.ts'

/** Spans up to which a trace that goes on is asked for every two seconds. */
const fewSpans = 500

/** The tree of a trace. One that was read while its run went on is read again when that is over. */
export const traceQuery = (projectId: string, traceId: string, isOver = true) =>
  queryOptions({
    queryKey: ['spans', projectId, 'trace', traceId, isOver],
    queryFn: async ({ signal }) => {
      const { items } = await traceSpans(projectId, traceId, signal)
      return treeOf(items, nowMs())
    },
    // Comparing ten thousand spans with those of before takes longer than drawing them.
    structuralSharing: false,
    refetchInterval: ({ state: { data } }) =>
      data?.isPending ? data.byId.size < fewSpans ? 2_000 : 10_000 : false,
    refetchOnWindowFocus: ({ state: { data } }) => data?.isPending ?? true,
  })

/** The ids of spans whose inputs or outputs have words; nothing is asked for without words. */
export const wordsInTrace = (projectId: string, traceId: string, words: string) =>
  queryOptions({
    queryKey: ['spans', projectId, 'trace', traceId, 'words', words],
    queryFn: ({ signal }) => spansWithWords(projectId, traceId, words, signal),
    enabled: words !== '',
    staleTime: 30_000,
  })
