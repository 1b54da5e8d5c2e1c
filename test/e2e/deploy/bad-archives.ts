/** Archives that no builder makes: each is refused for another reason. */

import { headerOf, paddingOf, tarEnd } from '../../../src/revision/index.ts'
import { withOwnFiles } from './deployed-project.ts'
import type { Built } from './deployed-project.ts'

/** The tar file of files by path. */
export function tarOf(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).toSorted(([one], [other]) => one < other ? -1 : 1)
  return Buffer.concat([...entries.flatMap(([path, text]) => {
    const content = Buffer.from(text)
    return [headerOf({ kind: 'file', path, executable: false, bytes: content.length }), content,
      paddingOf(content.length)]
  }), tarEnd])
}

/** A tar file with one entry of a kind that is neither a file nor a link. */
function deviceTar(): Buffer {
  const header = headerOf({ kind: 'file', path: 'null', executable: false, bytes: 0 })
  header.write('3', 156)
  header.write(' '.repeat(8), 148)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, tarEnd])
}

/** Revisions by name, with what their refusal says. */
export function badArchives(
  good: Built,
): Readonly<Record<string, { readonly built: Built; readonly says: RegExp }>> {
  const tar = tarOf({ 'agent.ts': 'export const agent = 1' })
  const link = headerOf({ kind: 'link', path: 'out', target: '../../../etc' })
  const bomb = Buffer.concat([
    headerOf({ kind: 'file', path: 'zeros', executable: false, bytes: 200_000_000 }),
    Buffer.alloc(200_000_000),
    paddingOf(200_000_000),
    tarEnd,
  ])
  return {
    'a zip bomb': { built: withOwnFiles(good, bomb, { bytes: 10_240 }),
      says: /larger than declared/ },
    'a path that escapes': { built: withOwnFiles(good, tarOf({ '../evil.ts': '' })),
      says: /leads out of the tree/ },
    'a link that escapes': { built: withOwnFiles(good, Buffer.concat([link, tarEnd])),
      says: /leads out of the tree/ },
    'a wrong hash': { built: withOwnFiles(good, tar, { hash: '0'.repeat(64) }),
      says: /another one than declared/ },
    'a cut-off archive': { built: withOwnFiles(good, tar, { cutAt: 40 }), says: /ends early/ },
    'a device': { built: withOwnFiles(good, deviceTar()), says: /neither a file/ },
  }
}
