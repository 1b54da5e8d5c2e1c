/** The rules of comments, beside those of the whole house in tidy.test.ts. */

import { it } from 'vitest'

import { expectNone } from './support/import-graph.ts'
import { readSource, repositoryFiles } from './support/source-tree.ts'

const opening = /^(?:What|How|Where|Which|Whether|Whoever|Whatever|Who|That)\b/

it('Comments say the thing first.', () => {
  const sources = repositoryFiles()
    .filter((path) => /^(src|cluster)\/.*\.tsx?$/.test(path))
    .map(readSource)
  const broken = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].flatMap(({ 1: comment = '', index }) =>
      opening.test(comment.replaceAll(/\n\s*\*/g, ' ').trim())
        ? [`${path}:${text.slice(0, index).split('\n').length}`]
        : []
    )
  )
  expectNone(broken, 'Begin with what it is, a verb or a condition: "Place of …", "Resolves when ' +
    '…", "True if …".')
})
