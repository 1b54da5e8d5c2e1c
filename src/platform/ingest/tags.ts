/** The tags of a span, as far as filters know them. */

import { itemsAt } from '../../json/index.ts'

/** Tags that a filter finds. */
const tagsMax = 100

/** The first tags of a valid list. What was left out is said in `cut`. */
export function readTags(json: Buffer | undefined, cut: string[]): readonly string[] {
  if (json === undefined) return []
  const tags: string[] = []
  for (const { from, to } of itemsAt(json, 0)) {
    if (tags.length === tagsMax) {
      cut.push(`tags: filters find the first ${tagsMax} only.`)
      break
    }
    const tag: unknown = JSON.parse(json.toString('utf8', from, to))
    if (typeof tag === 'string') tags.push(tag)
  }
  return tags
}
