/**
 * Functions of JavaScript as they are before code of a project runs. Guards call these and no
 * others, because that code can replace the originals. Guards also use no iterators, because the
 * iterators of arrays can be replaced.
 */

const { apply, construct, defineProperty, getPrototypeOf, ownKeys } = Reflect
const { assign } = Object

/** Detached functions of `Reflect` and `Object`. */
export { apply, assign, construct, defineProperty, getPrototypeOf, ownKeys }

/** Upper case of a string. */
export const upperCase = detached(String.prototype.toUpperCase)

/** Returns a method as a function whose first argument is the object. */
function detached<Args extends unknown[], Result>(
  method: (this: string, ...args: Args) => Result,
): (self: string, ...args: Args) => Result {
  return (self, ...args) => apply(method, self, args)
}

/** Creates an object that has only the own fields of `from`. Each getter is called once. */
export function bareCopy<Fields extends object>(from: Fields): Fields {
  return assign({ __proto__: null }, from)
}
