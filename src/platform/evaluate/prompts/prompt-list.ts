/** Lists of prompts: what the catalog finds, and orders that it does not have. */

import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { RecordOrder } from '../../records/catalog/record-index.ts'
import type { RecordQuery } from '../../records/catalog/record-query.ts'
import { promptOf } from './prompt-record.ts'
import type { Prompt, PromptOrder, PromptQuery } from './prompt.ts'

const catalogOrders: Readonly<Partial<Record<PromptOrder, RecordOrder>>> = { updated: 'order',
  created: 'created', name: 'name' }

const pageRecords = 100
/** Prompts that are sorted by a number of theirs: those that changed last. */
const sortedMax = 1_000

/** The page, and how many prompts there are in all. */
export async function findPrompts(catalogs: CatalogClient, tenant: string,
  query: PromptQuery): Promise<{ readonly prompts: readonly Prompt[]; readonly total: number }> {
  const page = async (part: Pick<RecordQuery, 'sortBy' | 'descending' | 'limit' | 'offset'>) => {
    const { records, total } = await catalogs.list({ tenant, collection: 'prompt' }, { ...part,
      ...filterOf(query) })
    return { prompts: records.map((record) => promptOf(tenant, record)), total }
  }
  const { sortBy, descending, limit, offset } = query
  const order = catalogOrders[sortBy]
  if (order !== undefined) return await page({ sortBy: order, descending, limit, offset })
  const all: Prompt[] = []
  let total = 0
  for (let at = 0; at < sortedMax; at += pageRecords) {
    const found = await page({ sortBy: 'order', descending: true, limit: pageRecords, offset: at })
    all.push(...found.prompts)
    total = found.total
    if (found.prompts.length < pageRecords) break
  }
  const sign = descending ? -1 : 1
  all.sort((a, b) => sign * (numberOf(a, sortBy) - numberOf(b, sortBy)))
  return { prompts: all.slice(offset, offset + limit), total }
}

function filterOf({ text, type, isPublic, isArchived, tags }: PromptQuery) {
  const metadata = { ...type && { type }, ...isPublic !== undefined && { public: isPublic },
    ...isArchived !== undefined && { archived: isArchived }, ...tags && { tags } }
  return { ...Object.keys(metadata).length > 0 && { metadata }, ...text !== undefined && { text } }
}

function numberOf({ likes, downloads, views }: Prompt, order: PromptOrder): number {
  switch (order) {
    case 'likes':
      return likes.length
    case 'downloads':
      return downloads
    default:
      return views
  }
}
