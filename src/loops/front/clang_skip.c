/*
 * clang_skip.c - code that is not run: loops whose number of iterations is not known, branches that depend on data.
 *
 * What it may change is not known afterwards: variables that it assigns to, pointers that it stores in memory, and all that
 * the functions change that it calls. Stores of the code itself are at places that can often be told; those of called
 * functions, whose parameters have no values here, may be anywhere.
 */
#include "loops/front/clang_front.h"

#define FUNCTIONS_SEEN 64u

struct stores {
    struct front *front;
    void (*store)(struct stores *stores, CXCursor target, const CXCursor *from); /* from is NULL in t += x and t++ */
    void (*call)(struct stores *stores, CXCursor call); /* of a function that is not in the source; may be NULL */
    unsigned calls;                                     /* followed so far, one in another */
    CXCursor seen[FUNCTIONS_SEEN];
    unsigned seen_count;
    int too_many; /* functions */
};

static int first_sight(struct stores *stores, CXCursor function) {
    for (unsigned i = 0; i < stores->seen_count; i++)
        if (stores->front->clang.equalCursors(stores->seen[i], function)) return 0;
    stores->too_many |= stores->seen_count == FUNCTIONS_SEEN;
    if (stores->too_many) return 0;
    stores->seen[stores->seen_count++] = function;
    return 1;
}

static enum CXChildVisitResult look_for_store(struct front *front, CXCursor cursor, void *context) {
    struct stores *stores = context;
    enum CXCursorKind kind = front_kind(front, cursor);
    enum CXUnaryOperatorKind op = front->clang.getCursorUnaryOperatorKind(cursor);
    int moves = kind == CXCursor_UnaryOperator && op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec;
    int assigns =
        kind == CXCursor_BinaryOperator && front->clang.getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign;
    if (kind == CXCursor_CallExpr) {
        CXCursor body = front->clang.getCursorDefinition(front->clang.getCursorReferenced(cursor));
        if (front->clang.Cursor_isNull(body)) {
            if (stores->call) stores->call(stores, cursor);
        } else if (first_sight(stores, body)) {
            stores->calls++;
            front_finds(front, front_body(front, body), look_for_store, stores);
            stores->calls--;
        }
    }
    struct kids kids =
        moves || assigns || kind == CXCursor_CompoundAssignOperator ? front_kids(front, cursor) : (struct kids){0};
    if (kids.count) stores->store(stores, front_strip(front, kids.item[0]), assigns ? &kids.item[1] : NULL);
    return CXChildVisit_Recurse;
}

static int is_plain_variable(struct front *front, CXCursor target) {
    return front_kind(front, target) == CXCursor_DeclRefExpr &&
           !front_is_reference(front, front->clang.getCursorReferenced(target));
}

/* p = (double *)malloc(n) */
static int is_allocation(struct front *front, CXCursor from) {
    from = front_strip(front, from);
    for (struct kids kids; front_kind(front, from) == CXCursor_CStyleCastExpr;) {
        kids = front_kids(front, from);
        if (!kids.count) return 0;
        from = front_strip(front, kids.item[kids.count - 1]);
    }
    CXCursor callee = front->clang.getCursorReferenced(from);
    return front_kind(front, from) == CXCursor_CallExpr &&
           front->clang.Cursor_isNull(front->clang.getCursorDefinition(callee)) &&
           front_allocates(front, from, callee, front_name(front, from));
}

static void skipped_store(struct stores *stores, CXCursor target, const CXCursor *from) {
    struct front *front = stores->front;
    CXType type = front_type(front, target);
    struct value value;
    struct place place = {.array = UINT32_MAX, .opaque = 1};
    if (is_plain_variable(front, target) && type.kind != CXType_Record) return; /* front_forget_assigned() */
    value_opaque(&value, "it changes");
    if (stores->calls) {
        value.is_fresh = from && is_allocation(front, *from);
    } else {
        if (from && type.kind != CXType_Record) front_eval(front, *from, &value);
        front_place_of(front, target, &place);
    }
    front_note_store(front, target, &place, &value);
}

static void skipped_call(struct stores *stores, CXCursor call) {
    struct front *front = stores->front;
    struct value value;
    if (front_call_is_pure(front, call)) return;
    if (!stores->calls) front_eval(front, call, &value); /* what it is passed may be stored in what it is passed */
    front_forget_globals(front, call);
}

void front_skip(struct front *front, CXCursor tree, const char *why) {
    struct stores stores = {.front = front, .store = skipped_store, .call = skipped_call};
    struct rsc_loop_node *at = front->at;
    struct paths *paths = front->paths;
    front_forget_assigned(front, tree, why);
    front->at = NULL; /* no references */
    front->paths = NULL;
    front_finds(front, tree, look_for_store, &stores);
    front->at = at;
    front->paths = paths;
    if (stores.too_many) {
        front->stored_any = 1;
        front->stores++;
    }
    front_forget_assigned(front, tree, why); /* also what was assigned just now */
}

/* p[i] and p->x; a[i], s.x and s.a[i] of variables are not reached through pointers. */
static int is_through_pointer(struct front *front, CXCursor target) {
    for (;;) {
        enum CXCursorKind kind = front_kind(front, target);
        if (kind != CXCursor_ArraySubscriptExpr && kind != CXCursor_MemberRefExpr)
            return kind != CXCursor_DeclRefExpr || front_is_reference(front, front->clang.getCursorReferenced(target));
        struct kids kids = front_kids(front, target);
        if (!kids.count) return 1; /* of *this */
        target = front_strip(front, kids.item[0]);
        if (front_type(front, target).kind == CXType_Pointer) return 1;
    }
}

static void store_through_pointer(struct stores *stores, CXCursor target, const CXCursor *from) {
    (void)from;
    if (is_through_pointer(stores->front, target)) front_lose_escaped(stores->front, front_type(stores->front, target));
}

void front_find_stores(struct front *front, CXCursor body) {
    struct stores stores = {.front = front, .store = store_through_pointer};
    if (front->escaped_count) front_finds(front, body, look_for_store, &stores);
    for (size_t i = 0; i < front->escaped_count && stores.too_many; i++)
        front_lose_escaped(front, front_type(front, front->escaped[i]));
}
