/** Gathers what the palette offers: acts of the screen, threads, pages, views, assistants. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'

import { assistantList } from '../api/assistants.ts'
import { serverInfo } from '../api/server.ts'
import { shortId } from '../api/thread-names.ts'
import { searchThreads } from '../api/threads.ts'
import { after } from '../env.ts'
import { isLater, readViews, threadListViews } from '../addresses/saved-views.ts'
import { actsNow } from '../parts/acts.ts'
import { isWholeId, matching, threadItem } from './palette-items.ts'
import type { PaletteItem } from './palette-items.ts'
import { pagesOf } from './rail-pages.ts'
import { chooseTheme, useTheme } from './theme.ts'

const restMs = 120
const wordsMax = 200

/** The items for what was typed. */
export function usePaletteItems(typed: string) {
  const fixed = useFixedItems()
  const { threads, isAsking } = useThreadItems(typed.trim())
  const here = fixed.filter(({ group }) => group === 'Here')
  const items = [...here, ...threads, ...fixed.filter(({ group }) => group !== 'Here')]
  return { items: matching(items, typed), isAsking }
}

function useFixedItems(): readonly PaletteItem[] {
  const navigate = useNavigate()
  const { data: info } = useQuery(serverInfo)
  const { data: assistants = [] } = useQuery(assistantList)
  const theme = useTheme()
  // The acts of the screen are those when the palette was opened.
  const acts = useMemo(actsNow, [])
  return useMemo(() => {
    const other = theme === 'dark' ? 'light' : 'dark'
    return [
      ...acts.map(({ words, act }, at) => ({ id: `act-${at}`, group: 'Here' as const, words,
        act })
      ),
      ...pagesOf(info).map(({ to, label }) => ({ id: to, group: 'Pages' as const, words: label,
        act: () => void navigate({ to, search: {} }) })
      ),
      { id: 'theme', group: 'Pages' as const, words: `Switch to ${other} colours`,
        act: () => chooseTheme(other) },
      ...readViews(threadListViews).filter((view) => !isLater(view)).map(({ name, search }) => ({
        id: `view-${name}`,
        words: name,
        group: 'Saved views' as const,
        act: () => void navigate({ to: '/threads', search }),
      })),
      ...assistants.map(({ assistant_id: id, name, graph_id: graph }) => ({ id, words: name,
        aside: graph, group: 'Assistants' as const,
        act: () => void navigate({ to: '/assistants', search: { id } }) })
      ),
    ]
  }, [acts, info, assistants, theme, navigate])
}

function useThreadItems(typed: string) {
  const navigate = useNavigate()
  const [q, setQ] = useState('')
  useEffect(() => after(restMs, () => setQ(typed.slice(0, wordsMax))), [typed])
  const { data, isFetching } = useQuery({
    queryKey: ['threads', 'palette', q],
    queryFn: ({ signal }) =>
      searchThreads({ ...q !== '' && { q }, limit: 5, sort_by: 'updated_at', sort_order: 'desc',
        extract: { first: 'values.messages[0].content' } }, signal),
    placeholderData: keepPreviousData,
    enabled: !isWholeId(q),
  })
  const go = (id: string) => void navigate({ to: '/threads/$id', params: { id }, search: {} })
  const threads = isWholeId(typed)
    ? [{ id: typed, group: 'Threads' as const, words: `Thread ${shortId(typed)}`,
      act: () => go(typed.toLowerCase()) }]
    : (data?.rows ?? []).map((thread) => threadItem(thread, go))
  return { threads, isAsking: isFetching || q !== typed.slice(0, wordsMax) && !isWholeId(typed) }
}
