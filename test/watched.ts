import type { Db, Store } from '../src/store/store.js'

/** A store whose transactions get a `Db` with some methods replaced. */
export function watchedStore(store: Store, instead: (db: Db) => Partial<Db>): Store {
  const write: Store['write'] = (change, work, domain) =>
    store.write(change, (db) => work(replaced(db, instead(db))), domain)
  return replaced(store, { write })
}

function replaced<T extends object>(target: T, others: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const owner = name in others ? others : target
      const value = Reflect.get(owner, name, owner)
      return typeof value === 'function' ? value.bind(owner) : value
    },
  })
}
