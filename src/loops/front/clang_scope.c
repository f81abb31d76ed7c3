/*
 * clang_scope.c - the variable that a name in a directive means.
 *
 * Directives are read from the text, so the syntax tree has no reference for num_threads(n) or private(x). The name means
 * the innermost declaration that is visible where the directive is: the last one of its name before it, in a scope that
 * is still open there; in a method, one of the class, wherever that declares it.
 */
#include <string.h>

#include "base/grow.h"
#include "loops/front/clang_front.h"

struct scope {
    const char *name;
    unsigned at;   /* where the name is used */
    CXCursor found; /* null: nothing yet */
};

static int names_a_value(enum CXCursorKind kind) {
    return kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl || kind == CXCursor_EnumConstantDecl ||
           kind == CXCursor_FieldDecl || kind == CXCursor_NonTypeTemplateParameter ||
           kind == CXCursor_UnexposedDecl; /* auto [m, n] = */
}

#define BASES_DEEP 32

/* A member of a class, of its bases, or of anonymous unions in it; null: none. */
static CXCursor member(struct front *front, CXCursor holder, const char *name, int deep) {
    CXCursor found = front->clang.getNullCursor(), definition = front->clang.getCursorDefinition(holder);
    struct kids kids = front_kids(front, front->clang.Cursor_isNull(definition) ? holder : definition);
    for (int bases = 0; bases < 2; bases++)
        for (unsigned i = 0; i < kids.count && deep < BASES_DEEP && front->clang.Cursor_isNull(found); i++) {
            enum CXCursorKind kind = front_kind(front, kids.item[i]);
            int inside = kind == CXCursor_EnumDecl || front->clang.Cursor_isAnonymousRecordDecl(kids.item[i]);
            if (bases && kind == CXCursor_CXXBaseSpecifier)
                found = member(front, front->clang.getTypeDeclaration(front->clang.getCursorType(kids.item[i])), name,
                               deep + 1);
            else if (!bases && inside) found = member(front, kids.item[i], name, deep + 1);
            else if (!bases && names_a_value(kind) && !strcmp(front_name(front, kids.item[i]), name))
                found = kids.item[i];
        }
    return found;
}

/* The class of a method: open in its body, wherever that is. */
static void look_in_class(struct front *front, CXCursor function, struct scope *scope) {
    enum CXCursorKind kind = front_kind(front, front->clang.getCursorSemanticParent(function));
    if (kind != CXCursor_ClassDecl && kind != CXCursor_StructDecl && kind != CXCursor_UnionDecl &&
        kind != CXCursor_ClassTemplate && kind != CXCursor_ClassTemplatePartialSpecialization)
        return;
    CXCursor found = member(front, front->clang.getCursorSemanticParent(function), scope->name, 0);
    if (!front->clang.Cursor_isNull(found)) scope->found = found;
}

static enum CXChildVisitResult look_in_scope(struct front *front, CXCursor cursor, void *context) {
    struct scope *scope = context;
    enum CXCursorKind kind = front_kind(front, cursor);
    unsigned start, end;
    if (kind == CXCursor_TranslationUnit) return CXChildVisit_Recurse;
    front_extent(front, cursor, &start, &end);
    if (start >= scope->at) return CXChildVisit_Continue;
    if (names_a_value(kind) && !strcmp(front_name(front, cursor), scope->name)) scope->found = cursor;
    if (end > scope->at) { /* a scope that is open; what it declares hides the rest */
        look_in_class(front, cursor, scope);
        return CXChildVisit_Recurse;
    }
    /* Its declarations are those of the scope around it. */
    return kind == CXCursor_DeclStmt || kind == CXCursor_EnumDecl || kind == CXCursor_LinkageSpec ||
                   kind == CXCursor_UnexposedDecl
               ? CXChildVisit_Recurse
               : CXChildVisit_Continue;
}

CXCursor front_named(struct front *front, const struct rsc_omp *omp, const char *name) {
    struct scope scope = {.name = name, .at = (unsigned)omp->start, .found = front->clang.getNullCursor()};
    for (size_t i = 0; i < front->named_count; i++)
        if (front->named[i].at == scope.at && !strcmp(front->named[i].name, name)) return front->named[i].variable;
    front_finds(front, front->tree, look_in_scope, &scope);
    CXCursor variable =
        front->clang.Cursor_isNull(scope.found) ? scope.found : front->clang.getCanonicalCursor(scope.found);
    char *copy = rsc_arena_strdup(&front->arena, name);
    if (!copy || RSC_GROW(front->named, front->named_room, front->named_count + 1))
        return front_no_memory(front), variable;
    front->named[front->named_count++] = (struct front_named){scope.at, copy, variable};
    return variable;
}

/* The same declaration: in an instance of a template it has another cursor, but the same place. */
int front_means(struct front *front, const struct rsc_omp *omp, const char *name, CXCursor variable) {
    CXCursor named = front_named(front, omp, name);
    unsigned at, other;
    if (front->clang.Cursor_isNull(named)) return 0;
    front->clang.getSpellingLocation(front->clang.getCursorLocation(named), NULL, NULL, NULL, &at);
    front->clang.getSpellingLocation(front->clang.getCursorLocation(front->clang.getCanonicalCursor(variable)), NULL,
                                     NULL, NULL, &other);
    return at == other;
}
