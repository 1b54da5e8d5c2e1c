/** Packages that only some tests need, installed once into a folder with a lock file of its own. */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Installs what the folder's lock file names, unless it is there. */
export async function installPackages(folder: string, what: string): Promise<void> {
  const [wanted, present] = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
      versionsIn(join(folder, name))
    ),
  )
  if (wanted === present) return
  console.log(`Installing ${what} (once) …`)
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--loglevel=error'], { cwd: folder })
}

/**
 * Every package of a lock file with its version, as one text; none where there is no file. Optional
 * ones are left out: those for other machines are never there.
 */
async function versionsIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '{"packages":{}}')
  const { packages } = JSON.parse(text) as {
    packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>
  }
  return Object.entries(packages).filter(([path, { optional }]) => path !== '' && !optional)
    .map(([path, { version }]) => `${path} ${version}`).sort().join('\n')
}
