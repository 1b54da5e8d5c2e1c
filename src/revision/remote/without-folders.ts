/** What builds and loaders say, without the folders of the server that they name. Pure. */

/** An absolute path of two names at least, but not the rest of an address. */
const absolute = /(?<![\w.:/\\@%~-])\/(?:[\w.@+=-]+\/)+([\w.@+=-]*)/g

/**
 * A text for whoever uploaded the files. `work` is the folder of a build; without one, all that is
 * left of a path is the name of its file.
 */
export function withoutFolders(text: string, work?: string): string {
  const plain = text.replaceAll('file:///', '/')
  const [first = '', ...others] = work === undefined ? [plain] : plain.split(work)
  return [first, ...others.map((each) => each.replace(/^(?:\/project(?:\/_)*)?\/?/, './'))].join('')
    .replaceAll(absolute, '…/$1')
}
