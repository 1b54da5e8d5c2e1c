/** The project `whole` in a folder of its own, from which it is deployed and changed. */

import { cp, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { heddleProcessIn } from '../../support/command.ts'
import type { Ended } from '../../support/command.ts'
import { linkPackages } from '../../support/linked-packages.ts'

/** A folder with the project, and the server that it is deployed to. */
export interface BakeryFolder {
  /** Runs the command line there. */
  heddle(...args: readonly string[]): Promise<Ended>
  /** Replaces a text that a file has once. Resolves with what puts it back. */
  change(file: string, from: string, to: string): Promise<() => Promise<void>>
}

const source = resolve(import.meta.dirname, '../../support/projects/whole')
const needed = ['@langchain/core', '@langchain/langgraph', '@langchain/langgraph-sdk', 'hono',
  'react', 'react-dom', 'ws']

/** Makes the folder. */
export async function bakeryFolder(folder: string, url: string,
  key: string): Promise<BakeryFolder> {
  await cp(source, folder, { recursive: true })
  const dependencies = Object.fromEntries(needed.map((name) => [name, '*']))
  await writeFile(join(folder, 'package.json'),
    JSON.stringify({ name: 'bakery', type: 'module', dependencies }))
  await writeFile(join(folder, 'package-lock.json'), '{}')
  await linkPackages(folder, folder)
  return {
    heddle: (...args) =>
      heddleProcessIn({ INIT_CWD: folder, npm_lifecycle_event: 'heddle', HEDDLE_URL: url,
        HEDDLE_API_KEY: key }, ...args),
    change: async (file, from, to) => {
      const path = join(folder, file)
      const text = await readFile(path, 'utf8')
      if (text.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`)
      await writeFile(path, text.replace(from, () => to))
      return () => writeFile(path, text)
    },
  }
}
